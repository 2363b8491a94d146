// What singular values say of a matrix: its condition, its rank, its pseudo-inverse.
#include <algorithm>
#include <limits>

#include "api/linalg/inputs.h"
#include "api/linalg/norm_order.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/products.h"
#include "weft/statistics.h"

namespace weft::linalg {

namespace {

double precision_of(DType real_type) { return real_type.itemsize() == 4 ? 0x1p-23 : 0x1p-52; }

// What was given for each matrix, beside its singular values.
array beside(const Argument& given, const array& values) {
    return expand_dims(move_to(from_argument(given), device_of(values)), {-1});
}

array conjugated(const array& a) { return a.dtype().is_complex() ? conjugate(a) : a; }

bool has_no_elements(const array& a) {
    const Dims& shape = a.shape();
    return shape[shape.size() - 2] * shape.back() == 0;
}

array infinite_or_nan(double value, DType dtype) { return astype(from_argument(value), dtype); }

// Singular values, and with `passes_nan` nan for matrices with nan in them.
array singular_values(const array& x, bool passes_nan) {
    if (!passes_nan || x.ndim() < 2 || !x.dtype().is_inexact()) return svdvals(x);
    const array unknown = any(isnan(x), {-2, -1});
    if (!truth_of(any(unknown))) return svdvals(x);
    const array others = where(unknown(ellipsis, newaxis, newaxis), infinite_or_nan(1, x.dtype()), x);
    const array values = svdvals(others);
    return where(unknown(ellipsis, newaxis),
                 infinite_or_nan(std::numeric_limits<double>::quiet_NaN(), values.dtype()), values);
}

array ratio_of_singular_values(const array& x, bool inverted, bool passes_nan) {
    const array values = singular_values(x, passes_nan), low = values(ellipsis, -1),
                high = values(ellipsis, 0);
    return inverted ? divide(low, high) : divide(high, low);
}

}  // namespace

array svdvals_of_hermitian(const array& a) {
    return sort(abs(eigvalsh(a)), -1)(ellipsis, slice(none, none, -1));
}

SVDResult svd_of_hermitian(const array& a) {
    const EighResult form = eigh(a);
    const array order = argsort(abs(form.eigenvalues), -1)(ellipsis, slice(none, none, -1));
    const array values = take_along_axis(form.eigenvalues, order, -1);
    const array vectors = take_along_axis(form.eigenvectors, order(ellipsis, newaxis, all), -1);
    const array signs = copysign(1, values);
    const array right = multiply(vectors, signs(ellipsis, newaxis, all));
    return {vectors, abs(values), conjugated(swapaxes(right, -1, -2))};
}

array cond(const array& x, const NormOrder& p, bool passes_nan) {
    if (x.size() == 0 && (x.ndim() < 2 || has_no_elements(x)))
        throw LinAlgError("cond is not defined on empty arrays");
    const std::optional<double> number = value_of(p);
    array result;
    if (p.is_default() || number == 2 || number == -2) {
        result = ratio_of_singular_values(x, number == -2, passes_nan);
    } else {
        check_square(x);
        const array inverse = inv_or_nan(x);  // refuses its types before the order is looked at
        result = passes_nan && p.name() == "nuc"
                     ? multiply(sum(singular_values(x, true), -1), sum(singular_values(inverse, true), -1))
                     : multiply(norm(x, p, {-2, -1}), norm(inverse, p, {-2, -1}));
        if (x.dtype().kind() == 'f' && result.dtype() != x.dtype()) result = astype(result, x.dtype());
    }
    const array unknown = isnan(result);
    if (!truth_of(any(unknown))) return result;
    const array own = any(isnan(x), {-2, -1});
    return where(logical_and(unknown, logical_not(own)),
                 infinite_or_nan(std::numeric_limits<double>::infinity(), result.dtype()), result);
}

array matrix_rank(const array& a, const RankOptions& options) {
    if (options.tol && options.rtol) throw ValueError("`tol` and `rtol` can't be both set.");
    if (a.ndim() < 2) return astype(any(not_equal(a, 0)), ScalarType::kInt64);
    const array values = options.hermitian ? svdvals_of_hermitian(a) : svdvals(a);
    if (options.tol) return count_nonzero(greater(values, beside(*options.tol, values)), -1);
    const auto longer = static_cast<double>(std::max(a.shape()[a.shape().size() - 2], a.shape().back()));
    const Argument rtol = options.rtol ? Argument(beside(*options.rtol, values))
                                       : Argument(longer * precision_of(values.dtype()));
    const array largest = max(values, -1, {.keepdims = true, .initial = 0});
    return count_nonzero(greater(values, multiply(largest, rtol)), -1);
}

array pinv(const array& a, const Argument& rcond, bool hermitian) {
    check_stacked(a);
    if (has_no_elements(a)) {
        Dims shape = a.shape();
        std::swap(shape[shape.size() - 2], shape.back());
        return empty(shape, a.dtype());
    }
    const array input = conjugated(a);
    const SVDResult parts = hermitian ? svd_of_hermitian(input) : svd(input, false);
    const array& s = parts.S;
    const array large = greater(s, multiply(beside(rcond, s), max(s, -1, {.keepdims = true})));
    const array inverse = where(large, divide(1, where(large, s, 1)), 0);
    return matmul(swapaxes(parts.Vh, -1, -2),
                  multiply(inverse(ellipsis, newaxis), swapaxes(parts.U, -1, -2)));
}

}  // namespace weft::linalg
