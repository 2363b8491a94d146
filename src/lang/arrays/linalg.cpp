// numpy.linalg: the engine's factorisations, and what is made of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

// --- arguments ------------------------------------------------------------------------------------------

// The type of all: float32 or float64, or a complex one.
ScalarType FunctionLowering::ArrayFunctions::linalg_type(std::initializer_list<Value> arrays) {
    bool wide = false, complex = false;
    for (const Value& each : arrays) {
        const DType dtype(each.type->scalar);
        if (dtype.is_half_float())
            f_.fail(where_, "array type " + std::string(dtype.name()) + " is unsupported in linalg",
                    "Convert it, as by .astype().");
        wide |= !dtype.is_inexact() || dtype.real().itemsize() == 8;
        complex |= dtype.is_complex();
    }
    if (complex) return wide ? ScalarType::kComplex128 : ScalarType::kComplex64;
    return wide ? ScalarType::kFloat64 : ScalarType::kFloat32;
}

Value FunctionLowering::ArrayFunctions::matrices(const Value& given) {
    const Value a = array(given);
    if (a.type->rank < 2)
        f_.fail(where_, std::to_string(a.type->rank) +
                            "-dimensional array given. Array must be at least two-dimensional");
    return array(a, linalg_type({a}));
}

void FunctionLowering::ArrayFunctions::expect_square(const Value& a) {
    const size_t rank = a.type->rank;
    f_.check(f_.apply(OpId::kEqual, {f_.size_of(a, rank - 2), f_.size_of(a, rank - 1)}),
             f_.site("LinAlgError", "Last 2 dimensions of the array must be square"), {}, where_);
}

std::vector<ValueId> FunctionLowering::ArrayFunctions::batch_of(const Value& a) {
    std::vector<ValueId> batch = shape_of(a);
    batch.resize(batch.size() - 2);
    return batch;
}

// Over a batch to which its leading axes broadcast.
Value FunctionLowering::ArrayFunctions::over(const Value& a, std::span<const ValueId> batch, size_t core) {
    const size_t own = a.type->rank - core;
    std::vector<ValueId> shape(batch.begin(), batch.end()), strides;
    const ValueId zero = f_.integer(0).parts[0], one = f_.integer(1).parts[0];
    for (size_t d = 0; d < batch.size(); ++d) {
        if (d + own < batch.size()) {
            strides.push_back(zero);
            continue;
        }
        const size_t at = d + own - batch.size();
        strides.push_back(f_.apply(
            OpId::kSelect, {f_.apply(OpId::kEqual, {f_.size_of(a, at), one}), zero, f_.stride_of(a, at)}));
    }
    for (size_t d = own; d < a.type->rank; ++d) {
        shape.push_back(f_.size_of(a, d));
        strides.push_back(f_.stride_of(a, d));
    }
    return f_.view(a, zero, shape, strides, a.type->contiguous);
}

Value FunctionLowering::ArrayFunctions::made(ScalarType type, std::vector<ValueId> batch,
                                             std::initializer_list<ValueId> core) {
    batch.insert(batch.end(), core);
    return f_.allocate(type, batch, where_);
}

// --- functions ------------------------------------------------------------------------------------------

Value FunctionLowering::ArrayFunctions::call_solve() {
    const std::vector<Value> given = bind("a b");
    Value a = matrices(given[0]), b = array(given[1]);
    expect_square(a);
    if (b.type->rank == 0)
        f_.fail(where_,
                "solve1: Input operand 1 does not have enough dimensions (has 0, gufunc core with "
                "signature (m,m),(m)->(m) requires 1)");
    const ScalarType type = linalg_type({a, b});
    a = array(a, type);
    b = array(b, type);
    const bool vector = b.type->rank == 1;
    const ValueId n = f_.size_of(a, a.type->rank - 1);
    const ValueId rows = f_.size_of(b, vector ? 0 : b.type->rank - 2);
    check_sizes(f_.apply(OpId::kEqual, {rows, n}),
                vector
                    ? "solve1: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                      "(m,m),(m)->(m) (size {} is different from {})"
                    : "solve: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                      "(m,m),(m,n)->(m,n) (size {} is different from {})",
                {rows, n});
    std::vector<Value> leading;
    for (const Value* each : {&a, &b}) {
        if (each->type->rank <= 2) continue;
        std::vector<ValueId> strides;
        for (size_t d = 0; d + 2 < each->type->rank; ++d) strides.push_back(f_.stride_of(*each, d));
        leading.push_back(f_.view(*each, f_.integer(0).parts[0], batch_of(*each), strides, false));
    }
    const std::vector<ValueId> batch = f_.broadcast_shape(leading, where_);
    const size_t core = vector ? 1 : 2;
    const Value right = over(b, batch, core);
    const Value x = f_.allocate(type, shape_of(right), where_);
    const std::array arguments = {x, over(a, batch, 2), right};
    expect(answer(vector ? "solve_vectors" : "solve", arguments), "LinAlgError", "Singular matrix");
    return x;
}

Value FunctionLowering::ArrayFunctions::call_eigen(bool symmetric, bool vectors) {
    const std::vector<Value> given = bind(symmetric ? "a UPLO?" : "a");
    const Value a = matrices(given[0]);
    expect_square(a);
    const ScalarType type = a.type->scalar;
    const ScalarType real = DType(type).real().scalar_type();
    const ScalarType complex = DType(real).itemsize() == 4 ? ScalarType::kComplex64 : ScalarType::kComplex128;
    const ValueId n = f_.size_of(a, a.type->rank - 1);
    const Value values = made(symmetric ? real : complex, batch_of(a), {n});
    const Value columns = vectors ? made(symmetric ? type : complex, batch_of(a), {n, n}) : f_.none();
    std::vector<Value> arguments = {values};
    if (vectors) arguments.push_back(columns);
    arguments.push_back(a);
    if (symmetric) {
        std::string triangle = text(given[1], "L");
        std::transform(triangle.begin(), triangle.end(), triangle.begin(), [](char c) {
            return c == 'l' ? 'L' : c == 'u' ? 'U' : c;
        });
        if (triangle != "L" && triangle != "U") f_.fail(where_, "UPLO argument must be 'L' or 'U'");
        arguments.push_back(f_.integer(triangle == "U" ? 1 : 0));
    }
    const std::string function = symmetric ? (vectors ? "symmetric_eigen" : "symmetric_eigenvalues")
                                           : (vectors ? "eigen" : "eigenvalues");
    const Value answered = answer(function, arguments);
    if (!symmetric)
        f_.check(f_.apply(OpId::kNotEqual, {answered.parts[0], f_.integer(2).parts[0]}),
                 f_.site("LinAlgError", "Array must not contain infs or NaNs"), {}, where_);
    expect(answered, "LinAlgError", "Eigenvalues did not converge");
    if (symmetric || DType(type).is_complex()) return vectors ? f_.tuple({values, columns}) : values;
    // Of real matrices: the type may not hang on the values, so these have to be real.
    const Value imaginary = operate(OpId::kNotEqual, {f_.part_of_complex(values, true), f_.integer(0)});
    const Value any = reduce("any", imaginary, f_.none());
    f_.check(
        f_.negation(any.parts[0]).parts[0],
        f_.site("ValueError",
                name_ + "() argument must not cause a domain change. The eigenvalues of a matrix of real "
                        "numbers are complex: give a complex matrix, as by .astype(np.complex128)"),
        {}, where_);
    const Value found = f_.array_of(f_.part_of_complex(values, false), real, where_);
    if (!vectors) return found;
    return f_.tuple({found, f_.array_of(f_.part_of_complex(columns, false), real, where_)});
}

Value FunctionLowering::ArrayFunctions::call_svd(bool values_alone) {
    const std::vector<Value> given = bind(values_alone ? "x" : "a full_matrices? compute_uv? hermitian!");
    const Value a = matrices(given[0]);
    const ScalarType type = a.type->scalar, real = DType(type).real().scalar_type();
    const ValueId m = f_.size_of(a, a.type->rank - 2), n = f_.size_of(a, a.type->rank - 1);
    const ValueId least = f_.apply(OpId::kMinimum, {m, n});
    const Value s = made(real, batch_of(a), {least});
    if (values_alone || !flag(given[2], true)) {
        const std::array arguments = {s, a};
        expect(answer("singular_values", arguments), "LinAlgError", "SVD did not converge");
        return s;
    }
    const bool full = flag(given[1], true);
    const Value u = made(type, batch_of(a), {m, full ? m : least});
    const Value vh = made(type, batch_of(a), {full ? n : least, n});
    const std::array arguments = {u, s, vh, a};
    expect(answer("svd", arguments), "LinAlgError", "SVD did not converge");
    return f_.tuple({u, s, vh});
}

Value FunctionLowering::ArrayFunctions::call_qr() {
    const std::vector<Value> given = bind("a mode?");
    const Value a = matrices(given[0]);
    const std::string mode = text(given[1], "reduced");
    if (mode != "reduced" && mode != "complete" && mode != "r")
        f_.fail(where_, "qr() has no mode '" + mode + "' in a compiled function",
                "Write 'reduced', 'complete' or 'r'.");
    const ValueId m = f_.size_of(a, a.type->rank - 2), n = f_.size_of(a, a.type->rank - 1);
    const ValueId least = f_.apply(OpId::kMinimum, {m, n}), rows = mode == "complete" ? m : least;
    const Value r = made(a.type->scalar, batch_of(a), {rows, n});
    if (mode == "r") {
        const std::array arguments = {r, a};
        answer("qr_r", arguments);
        return r;
    }
    const Value q = made(a.type->scalar, batch_of(a), {m, rows});
    const std::array arguments = {q, r, a};
    answer("qr", arguments);
    return f_.tuple({q, r});
}

Value FunctionLowering::ArrayFunctions::call_lstsq() {
    const std::vector<Value> given = bind("a b rcond?");
    Value a = array(given[0]), b = array(given[1]);
    if (a.type->rank != 2 || b.type->rank == 0 || b.type->rank > 2)
        f_.fail(where_, "lstsq() takes a matrix, and a vector or a matrix");
    const ScalarType type = linalg_type({a, b}), real = DType(type).real().scalar_type();
    a = array(a, type);
    b = array(b, type);
    const bool vector = b.type->rank == 1;
    const ValueId m = f_.size_of(a, 0), n = f_.size_of(a, 1);
    f_.check(f_.apply(OpId::kEqual, {f_.size_of(b, 0), m}), f_.site("LinAlgError", "Incompatible dimensions"),
             {}, where_);
    const std::array column = {0, -1};
    const Value right = vector ? f_.with_axes(b, column) : b;
    const ValueId most = f_.apply(OpId::kMaximum, {m, n}), least = f_.apply(OpId::kMinimum, {m, n});
    const Value solved = made(type, {}, {most, f_.size_of(right, 1)}), s = made(real, {}, {least});
    const Value rank = made(ScalarType::kInt64, {}, {});
    const Value rcond = is_none(given[2]) ? f_.constant(Constant::of(ScalarType::kFloat64, -1.0)) : given[2];
    const std::array arguments = {solved, s, rank, a, right, rcond};
    expect(answer("least_squares", arguments), "LinAlgError", "SVD did not converge in Linear Least Squares");
    const Value found = f_.load({rank, {}});
    Value x = f_.call_prelude("linalg.first_rows", {{solved, whole(n)}, {}, where_});
    if (vector) x = f_.call_prelude("linalg.first_column", {{x}, {}, where_});
    const Value squares =
        DType(type).is_complex()
            ? operate(OpId::kAdd, {operate(OpId::kMultiply, {f_.part_of_complex(solved, false),
                                                             f_.part_of_complex(solved, false)}),
                                   operate(OpId::kMultiply, {f_.part_of_complex(solved, true),
                                                             f_.part_of_complex(solved, true)})})
            : operate(OpId::kMultiply, {solved, solved});
    const Value residuals = f_.call_prelude(
        "linalg.residuals", {{squares, whole(m), whole(n), whole(found.parts[0])}, {}, where_});
    const Value rank_of_numpy =
        f_.scalar(scalar_type(ScalarType::kInt32), f_.cast(found, ScalarType::kInt32));
    return f_.tuple({x, residuals, rank_of_numpy, s});
}

// Where the order is known only when the code runs.
Value FunctionLowering::ArrayFunctions::norm_of_any(Value x, bool of_matrix) {
    x.fresh = false;  // all ways share it
    const std::vector<Value> given = bind("x ord axis? keepdims?");
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> orders = of_matrix ? std::vector<double>{infinity, -infinity, 1, -1, 2, -2}
                                                 : std::vector<double>{infinity, -infinity, 0, 1, 2};
    const auto number = [&](double value) { return f_.constant(Constant::of(ScalarType::kFloat64, value)); };
    const auto norm = [&](const Value& ord, bool is_general) {
        const Arguments arguments{{x, ord, given[2], given[3]}, {}, where_};
        return ArrayFunctions(f_, name_, arguments).call_norm(is_general);
    };
    const ValueId wanted = f_.cast(given[1], ScalarType::kFloat64);
    if (of_matrix) {
        ValueId known = f_.boolean(false).parts[0];
        for (const double order : orders)
            known =
                f_.apply(OpId::kLogicalOr, {known, f_.apply(OpId::kEqual, {wanted, number(order).parts[0]})});
        f_.check(known, f_.site("ValueError", "Invalid norm order for matrices."), {}, where_);
    }
    const std::function<Value(size_t)> from = [&](size_t k) {
        if (k == orders.size()) return norm(given[1], true);
        if (of_matrix && k + 1 == orders.size()) return norm(number(orders[k]), false);
        return f_.one_of(
            where_, f_.apply(OpId::kEqual, {wanted, number(orders[k]).parts[0]}),
            [&, k] { return norm(number(orders[k]), false); }, [&, k] { return from(k + 1); });
    };
    return from(0);
}

// `is_general`: its order is none that has a formula of its own.
Value FunctionLowering::ArrayFunctions::call_norm(bool is_general) {
    const std::vector<Value> given = bind("x ord? axis? keepdims?");
    Value x = array(given[0]);
    if (!DType(x.type->scalar).is_inexact()) x = array(x, ScalarType::kFloat64);
    const bool keeps = flag(given[3], false), is_complex = DType(x.type->scalar).is_complex();
    const Value& ord = given[1];
    const Value& along = given[2];
    const auto absolute = [&](const Value& value) { return operate(OpId::kAbsolute, {value}); };
    const auto squares = [&](const Value& value) {
        if (!is_complex) return operate(OpId::kMultiply, {value, value});
        const Value re = f_.part_of_complex(value, false), im = f_.part_of_complex(value, true);
        return operate(OpId::kAdd, {operate(OpId::kMultiply, {re, re}), operate(OpId::kMultiply, {im, im})});
    };
    const auto euclidean = [&](const Value& axes) {
        return operate(OpId::kSqrt, {reduce("sum", squares(x), axes, keeps)});
    };
    const bool of_matrix = is_none(along)
                               ? x.type->rank == 2
                               : along.type->kind == TypeKind::kTuple && along.type->parts.size() == 2;
    if (is_none(ord)) return euclidean(along);
    if (is_none(along) && x.type->rank > 2) f_.fail(where_, "Improper number of dimensions to norm.");
    if (ord.type->kind == TypeKind::kString) {
        if (of_matrix && (ord.type->text == "fro" || ord.type->text == "f")) return euclidean(along);
        if (of_matrix && is_none(along) && ord.type->text == "nuc" && !keeps) {
            const Value s = made(DType(x.type->scalar).real().scalar_type(), {},
                                 {f_.apply(OpId::kMinimum, {f_.size_of(x, 0), f_.size_of(x, 1)})});
            const std::array arguments = {s, x};
            expect(answer("singular_values", arguments), "LinAlgError", "SVD did not converge");
            return reduce("sum", s, f_.integer(-1));
        }
        f_.fail(where_, "Invalid norm order '" + ord.type->text + "' here");
    }
    std::optional<double> value;
    if (const auto number = literal_integer(ord.type)) value = static_cast<double>(*number);
    if (ord.type->literal && ord.type->literal->type == ScalarType::kFloat64)
        value = ord.type->literal->as<double>();
    if (!value && is_scalar(ord.type) && ord.type->weak && !is_general) return norm_of_any(x, of_matrix);
    if (of_matrix) {
        if (!value || !is_none(along) || keeps)
            f_.fail(where_,
                    "the order of a matrix' norm has to be known when the function is compiled, and takes no "
                    "axis");
        if (std::abs(*value) == 2) {
            const Value s = made(DType(x.type->scalar).real().scalar_type(), {},
                                 {f_.apply(OpId::kMinimum, {f_.size_of(x, 0), f_.size_of(x, 1)})});
            const std::array arguments = {s, x};
            expect(answer("singular_values", arguments), "LinAlgError", "SVD did not converge");
            return reduce(*value > 0 ? "max" : "min", s, f_.none());
        }
        if (!std::isinf(*value) && std::abs(*value) != 1) f_.fail(where_, "Invalid norm order for matrices.");
        const Value sums = reduce("sum", absolute(x), f_.integer(std::isinf(*value) ? 1 : 0));
        return reduce(*value > 0 ? "max" : "min", sums, f_.none());
    }
    const Value axes = is_none(along) ? f_.integer(0) : along;
    if (value == 2) return euclidean(axes);
    if (value && std::isinf(*value)) return reduce(*value > 0 ? "max" : "min", absolute(x), axes, keeps);
    if (value == 0) {
        const ScalarType real = DType(x.type->scalar).real().scalar_type();
        return reduce("sum", array(operate(OpId::kNotEqual, {x, f_.integer(0)}), real), axes, keeps);
    }
    if (value == 1) return reduce("sum", absolute(x), axes, keeps);
    const Value total = reduce("sum", operate(OpId::kPower, {absolute(x), ord}), axes, keeps);
    const Value one = f_.constant(Constant::of(ScalarType::kFloat64, 1.0));
    return operate(OpId::kPower, {total, f_.divide("truediv", one, ord, where_)});
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_linalg() {
    if (name_ == "solve") return call_solve();
    if (name_ == "eigh" || name_ == "eigvalsh") return call_eigen(true, name_ == "eigh");
    if (name_ == "eig" || name_ == "eigvals") return call_eigen(false, name_ == "eig");
    if (name_ == "svd" || name_ == "svdvals") return call_svd(name_ == "svdvals");
    if (name_ == "qr") return call_qr();
    if (name_ == "lstsq") return call_lstsq();
    if (name_ == "norm") return call_norm();
    if (name_ == "inv") {
        const Value a = matrices(bind("a")[0]);
        expect_square(a);
        const Value inverse = f_.allocate(a.type->scalar, shape_of(a), where_);
        const std::array arguments = {inverse, a};
        expect(answer("invert", arguments), "LinAlgError", "Singular matrix");
        return inverse;
    }
    if (name_ == "det") {
        const Value a = matrices(bind("a")[0]);
        expect_square(a);
        const Value result = f_.allocate(a.type->scalar, batch_of(a), where_);
        const std::array arguments = {result, a};
        answer("determinant", arguments);
        return element_or_array(result);
    }
    if (name_ == "slogdet") {
        const Value a = matrices(bind("a")[0]);
        expect_square(a);
        const Value sign = f_.allocate(a.type->scalar, batch_of(a), where_);
        const Value logarithm = f_.allocate(DType(a.type->scalar).real().scalar_type(), batch_of(a), where_);
        const std::array arguments = {sign, logarithm, a};
        answer("log_determinant", arguments);
        return f_.tuple({element_or_array(sign), element_or_array(logarithm)});
    }
    if (name_ == "cholesky") {
        const std::vector<Value> given = bind("a upper?");
        const Value a = matrices(given[0]);
        expect_square(a);
        const Value factor = f_.allocate(a.type->scalar, shape_of(a), where_);
        const std::array arguments = {factor, a, f_.integer(flag(given[1], false) ? 1 : 0)};
        expect(answer("cholesky", arguments), "LinAlgError", "Matrix is not positive definite");
        return factor;
    }
    return std::nullopt;
}

}  // namespace weft::lang
