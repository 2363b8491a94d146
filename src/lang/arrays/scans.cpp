// Sums and products up to each element, differences, and reductions that leave out what is no number.
#include <array>
#include <limits>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

Value FunctionLowering::ArrayFunctions::choose_later(const Value& condition, const Value& yes,
                                                     const Value& no) {
    return f_.call_where({{condition, yes, no}, {}, where_, /*defers=*/true});
}

Value FunctionLowering::ArrayFunctions::part(const Value& array, size_t axis, ValueId from, ValueId count) {
    std::vector<ValueId> shape = shape_of(array), strides;
    for (size_t d = 0; d < shape.size(); ++d) strides.push_back(f_.stride_of(array, d));
    shape[axis] = count;
    return f_.view(array, f_.apply(OpId::kMultiply, {from, strides[axis]}), shape, strides,
                   array.type->contiguous, array.type->ordered);
}

Value FunctionLowering::ArrayFunctions::last(const Value& array, size_t axis) {
    std::vector<int> axes;
    for (size_t d = 0; d < array.type->rank; ++d) {
        if (d != axis) axes.push_back(static_cast<int>(d));
    }
    axes.push_back(static_cast<int>(axis));
    return f_.with_axes(array, axes);
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_scan() {
    if (name_ == "cumsum" || name_ == "cumprod") {
        const std::vector<Value> given = bind("a axis? dtype? out?");
        Value a = array(given[0]);
        if (is_none(given[1]) || a.type->rank == 0) a = f_.ravelled(a, where_);
        const size_t along = is_none(given[1]) ? 0 : axis(given[1], a.type->rank);
        const DType element(a.type->scalar);
        ScalarType made = a.type->scalar;
        if (element.is_bool() || element.is_integer())
            made = element.is_unsigned_integer() ? ScalarType::kUInt64 : ScalarType::kInt64;
        if (!is_none(given[2])) {
            made = f_.dtype_of(given[2], where_).value_or(made);
            a = array(a, made);
        }
        const Value out = f_.allocate_as(a, made, where_);
        const bool adds = name_ == "cumsum";
        const Value start =
            f_.scalar(scalar_type(made), f_.cast(adds && DType(made).is_inexact()
                                                     ? f_.constant(Constant::of(ScalarType::kFloat64, -0.0))
                                                     : f_.integer(adds ? 0 : 1),
                                                 made));
        prelude(adds ? "add_into" : "multiply_into", {last(a, along), last(out, along), start});
        return stored(out, given[3]);
    }
    if (name_ == "diff") {
        const std::vector<Value> given = bind("a n? axis? prepend! append!");
        Value a = array(given[0]);
        if (a.type->rank == 0) f_.fail(where_, "diff requires input that is at least one dimensional");
        const std::optional<int64_t> times = is_none(given[1]) ? 1 : literal_integer(given[1].type);
        const size_t along = axis(given[2], a.type->rank);
        if (!times || *times < 0 || *times > 16) {
            const Value steps = prelude(DType(a.type->scalar).is_bool() ? "changes_times" : "diff_times",
                                        {last(a, along), whole(f_.as_index(given[1], where_))});
            std::vector<int> back;
            for (size_t d = 0; d < a.type->rank; ++d)
                back.push_back(static_cast<int>(d == along ? a.type->rank - 1 : d < along ? d : d - 1));
            return f_.with_axes(steps, back);
        }
        const ValueId zero = f_.integer(0).parts[0], one = f_.integer(1).parts[0];
        for (int64_t k = 0; k < *times; ++k) {
            const ValueId rest =
                f_.apply(OpId::kMaximum, {f_.apply(OpId::kSubtract, {f_.size_of(a, along), one}), zero});
            const ValueId first = f_.apply(OpId::kMinimum, {one, f_.size_of(a, along)});
            a = operate(DType(a.type->scalar).is_bool() ? OpId::kNotEqual : OpId::kSubtract,
                        {part(a, along, first, rest), part(a, along, zero, rest)});
        }
        return a;
    }
    if (name_ == "clip") {
        const std::vector<Value> given = bind("a a_min? a_max? out? min? max?");
        const Value& low = is_none(given[1]) ? given[4] : given[1];
        const Value& high = is_none(given[2]) ? given[5] : given[2];
        Value a = given[0];
        if (is_list(a.type)) a = array(a);
        if (!is_none(low)) a = later(OpId::kMaximum, {a, low});
        if (!is_none(high)) a = later(OpId::kMinimum, {a, high});
        return is_none(given[3]) ? a : stored(f_.forced(a), given[3]);
    }
    if (name_ == "count_nonzero") {
        const std::vector<Value> given = bind("a axis? keepdims?");
        return reduce("sum", operate(OpId::kNotEqual, {array(given[0]), f_.integer(0)}), given[1],
                      flag(given[2], false));
    }
    if (name_ == "ptp") {
        const std::vector<Value> given = bind("a axis? out! keepdims?");
        const Value a = array(given[0]);
        const bool keeps = flag(given[3], false);
        return operate(OpId::kSubtract,
                       {reduce("max", a, given[1], keeps), reduce("min", a, given[1], keeps)});
    }
    if (name_ == "average") {
        const std::vector<Value> given = bind("a axis? weights? returned! keepdims!");
        const Value a = array(given[0]);
        if (is_none(given[2])) return reduce("mean", a, given[1]);
        Value weights = array(given[2]);
        if (a.type->rank != weights.type->rank) {
            if (is_none(given[1]))
                f_.fail(where_, "Axis must be specified when shapes of a and weights differ.");
            if (weights.type->rank != 1)
                f_.fail(where_, "1D weights expected when shapes of a and weights differ.");
            const size_t along = axis(given[1], a.type->rank);
            f_.check(f_.apply(OpId::kEqual, {f_.size_of(weights, 0), f_.size_of(a, along)}),
                     f_.site("ValueError", "Length of weights not compatible with specified axis."), {},
                     where_);
            std::vector<int> axes(a.type->rank, -1);
            axes[along] = 0;
            weights = broadcast(f_.with_axes(weights, axes), shape_of(a));
        }
        const Value total = reduce("sum", weights, given[1]);
        const Value zero = operate(OpId::kEqual, {total, f_.integer(0)});
        const Value any = is_array(zero.type) ? reduce("any", zero, f_.none()) : zero;
        f_.check(f_.negation(any.parts[0]).parts[0],
                 f_.site("ZeroDivisionError", "Weights sum to zero, can't be normalized"), {}, where_);
        return operate(OpId::kDivide, {reduce("sum", later(OpId::kMultiply, {a, weights}), given[1]), total});
    }
    return std::nullopt;
}

// nansum and so on.
std::optional<Value> FunctionLowering::ArrayFunctions::call_without_nan() {
    if (!name_.starts_with("nan")) return std::nullopt;
    const std::string of = name_.substr(3);
    static constexpr std::string_view kNames[] = {"sum", "prod",   "mean",    "var",    "std",   "min",
                                                  "max", "cumsum", "cumprod", "argmin", "argmax"};
    if (std::find(std::begin(kNames), std::end(kNames), of) == std::end(kNames)) return std::nullopt;
    const bool spreads = of == "var" || of == "std", scans = of.starts_with("cum");
    const std::vector<Value> given =
        bind(spreads ? "a axis? dtype! out! ddof? keepdims?" : "a axis? dtype! out! keepdims?");
    const Value a = array(given[0]);
    const Value& along = given[1];
    const bool keeps = flag(given.back(), false);
    const auto call = [&](const std::string& name, std::vector<Value> arguments) {
        const Arguments all{std::move(arguments), {}, where_};
        return *ArrayFunctions(f_, name, all).call("numpy");
    };
    const bool counts = !DType(a.type->scalar).is_inexact();
    const Value is_nan = counts ? f_.none() : later(OpId::kIsnan, {a});
    const auto without = [&](const Value& value) { return counts ? a : choose_later(is_nan, value, a); };
    const Value zero = f_.integer(0), one = f_.integer(1);
    if (scans) return call(of, {f_.forced(without(of == "cumsum" ? zero : one)), along});
    if (of == "sum" || of == "prod") return reduce(of, without(of == "sum" ? zero : one), along, keeps);
    if (of == "min" || of == "max" || of == "argmin" || of == "argmax") {
        if (counts) return reduce(of, a, along, keeps);
        const double infinity = std::numeric_limits<double>::infinity();
        const double last = of.ends_with("min") ? infinity : -infinity;
        const Value filled =
            without(DType(a.type->scalar).is_complex()
                        ? f_.constant(Constant::of(ScalarType::kComplex128, std::array{last, last}))
                        : f_.constant(Constant::of(ScalarType::kFloat64, last)));
        const Value all = reduce("all", is_nan, along, keeps);
        const Value found = reduce(of, filled, along, keeps);
        if (of.starts_with("arg")) {
            const Value any = is_array(all.type) ? reduce("any", all, f_.none()) : all;
            f_.check(f_.negation(any.parts[0]).parts[0], f_.site("ValueError", "All-NaN slice encountered"),
                     {}, where_);
            return found;
        }
        const Value nan =
            f_.constant(Constant::of(ScalarType::kFloat64, std::numeric_limits<double>::quiet_NaN()));
        return choose_later(all, nan, found);
    }
    if (counts) {
        Arguments arguments{{along}, {}, where_};
        if (keeps) arguments.keywords.emplace_back("keepdims", f_.boolean(true));
        if (spreads && !is_none(given[4])) arguments.keywords.emplace_back("ddof", given[4]);
        return *f_.array_reduction(a, of, arguments);
    }
    // A number of elements, as what it divides: beside an int64 a float32 becomes a float64.
    const ScalarType real = DType(a.type->scalar).real().scalar_type();
    const auto as_real = [&](const Value& number) {
        if (real == ScalarType::kFloat16) return number;  // which does not hold large ones
        return is_array(number.type) ? array(number, real)
                                     : f_.scalar(scalar_type(real), f_.cast(number, real));
    };
    const auto mean = [&](bool keeps_axes) {
        const Value number = as_real(reduce("sum", later(OpId::kLogicalNot, {is_nan}), along, keeps_axes));
        return later(OpId::kDivide, {reduce("sum", without(zero), along, keeps_axes), number});
    };
    if (of == "mean") return mean(keeps);
    Value off = choose_later(is_nan, zero, later(OpId::kSubtract, {a, mean(!is_none(along))}));
    Value squares;
    if (DType(a.type->scalar).is_complex()) {
        off = f_.forced(off);
        const auto squared = [&](const Value& each) { return later(OpId::kMultiply, {each, each}); };
        squares = later(OpId::kAdd,
                        {squared(f_.part_of_complex(off, false)), squared(f_.part_of_complex(off, true))});
    } else {
        squares = later(OpId::kMultiply, {off, off});
    }
    Value number = reduce("sum", later(OpId::kLogicalNot, {is_nan}), along, keeps);
    if (!is_none(given[4])) number = later(OpId::kSubtract, {number, given[4]});
    // Where no more numbers are left than `ddof`, there is no variance.
    const Value nothing =
        f_.constant(Constant::of(ScalarType::kFloat64, std::numeric_limits<double>::quiet_NaN()));
    number = choose_later(later(OpId::kGreater, {number, zero}), as_real(number), as_real(nothing));
    const Value result = later(OpId::kDivide, {reduce("sum", squares, along, keeps), number});
    return of == "std" ? later(OpId::kSqrt, {result}) : result;
}

}  // namespace weft::lang
