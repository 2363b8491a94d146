// Toeplitz equations, and the factors of symmetric matrices that are not positive definite.
#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "library/linalg/structured/ldl.h"
#include "library/linalg/structured/toeplitz.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

Dims without_last(const array& a) {
    Dims shape = a.shape();
    shape.resize(shape.size() - 1);
    return shape;
}

Dims batch_of_toeplitz(const array& column, const array& row, const array& b) {
    const bool vector = b.ndim() == 1;
    const bool fits = column.ndim() > 0 && row.ndim() > 0 && b.ndim() > 0 &&
                      column.shape().back() == row.shape().back() &&
                      b.shape()[vector ? 0 : b.shape().size() - 2] == column.shape().back();
    if (!fits) throw ValueError("Incompatible dimensions.");
    const Dims first = without_last(column), second = without_last(row),
               third = vector ? Dims{} : batch_of(b);
    const Dims* const batches[3] = {&first, &second, &third};
    return broadcast_shapes(batches);
}

// float64 or complex128, as SciPy.
Types double_types(const array& column, const array& row, const array& b) {
    const bool complex = column.dtype().is_complex() || row.dtype().is_complex() || b.dtype().is_complex();
    const DType type = complex ? ScalarType::kComplex128 : ScalarType::kFloat64;
    return {type, type};
}

}  // namespace

array solve_toeplitz(const array& column, const array& row, const array& b) {
    const LibraryCall call("linalg.solve_toeplitz", column);
    const Dims batch = batch_of_toeplitz(column, row, b);
    if (is_on_gpu(column, b) || is_on_gpu(row, b)) {
        array result = on_host(
            "solve_toeplitz", "",
            [](const array& c, const array& r, const array& right) { return solve_toeplitz(c, r, right); },
            column, row, b);
        back(b, {&result});
        return result;
    }
    const Types types = double_types(column, row, b);
    const bool vector = b.ndim() == 1;
    const int64_t n = column.shape().back(), columns = vector ? 1 : b.shape().back();
    Output x(types, batch,
             vector ? std::initializer_list<int64_t>{n} : std::initializer_list<int64_t>{n, columns});
    if (n * columns * element_count(batch) == 0) return x.finish();
    const Input down(expand_dims(column, {-1}), types), across(expand_dims(row, {-1}), types),
        right(b, types);
    if (!lapack::solve_toeplitz(types.scalar_type(), down.over(batch), across.over(batch), right.over(batch),
                                vector ? x.columns() : x.matrices()))
        throw LinAlgError("Singular principal minor");
    return x.finish();
}

LDLResult ldl(const array& a, bool lower, bool hermitian) {
    const LibraryCall call("linalg.ldl", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        LDLResult result =
            on_host("ldl", "", [&](const array& there) { return ldl(there, lower, hermitian); }, a);
        back(a, {&result.L, &result.D, &result.perm});
        return result;
    }
    const Input input(a, types);
    const Dims batch = batch_of(a);
    const int64_t n = a.shape().back();
    Output factor(types, batch, {n, n}), middle(types, batch, {n, n});
    Output order({ScalarType::kInt64, ScalarType::kInt64}, batch, {n});
    if (a.size() != 0)
        lapack::factor_ldl(types.scalar_type(), input.matrices(), {lower, hermitian}, factor.matrices(),
                           middle.matrices(), reinterpret_cast<int64_t*>(order.data()));
    return {factor.finish(), middle.finish(), order.finish()};
}

}  // namespace weft::linalg
