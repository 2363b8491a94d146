#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/shape.h"
#include "graph/operand.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/indexing.h"
#include "weft/products.h"
#include "weft/statistics.h"

namespace weft {

namespace {

array as(const array& values, DType dtype) { return astype(values, dtype, 'K', Casting::kUnsafe, false); }

bool is_whole(DType dtype) { return dtype.is_integer() || dtype.is_bool(); }

// Weights of the axes alone, as ones that broadcast to the array.
array weights_of_axes(const array& weights, const array& a, const Axes& axis) {
    if (!axis.list()) throw TypeError("Axis must be specified when shapes of a and weights differ.");
    Dims axes, extents, order, shape(static_cast<size_t>(a.ndim()), 1);
    for (const int64_t each : *axis.list()) {
        axes.push_back(normalize_axis(each, a.ndim()));
        extents.push_back(a.shape()[static_cast<size_t>(axes.back())]);
        order.push_back(static_cast<int64_t>(order.size()));
    }
    if (weights.shape() != extents)
        throw ValueError("Shape of weights must be consistent with shape of a along specified axis.");
    std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
        return axes[static_cast<size_t>(x)] < axes[static_cast<size_t>(y)];
    });
    for (const int64_t each : axes) shape[static_cast<size_t>(each)] = a.shape()[static_cast<size_t>(each)];
    return reshape(weights.ndim() > 1 ? transpose(weights, order) : weights, shape);
}

}  // namespace

Average average(const array& a, const Axes& axis, const std::optional<array>& given, bool keepdims) {
    if (!given) {
        const array values = mean(a, axis, {.keepdims = keepdims});
        const auto count = static_cast<double>(a.size()) / static_cast<double>(values.size());
        return {values, broadcast_to(from_argument(count, values.dtype()), values.shape())};
    }
    DType dtype = promote_types(a.dtype(), given->dtype());
    if (is_whole(a.dtype())) dtype = promote_types(dtype, ScalarType::kFloat64);
    const array weights = given->shape() == a.shape() ? *given : weights_of_axes(*given, a, axis);
    const array scale = sum(broadcast_to(weights, a.shape()), axis, {.dtype = dtype, .keepdims = keepdims});
    if (truth_of(any(scale == 0))) throw ZeroDivisionError("Weights sum to zero, can't be normalized");
    const array values = sum(multiply(a, weights, {.dtype = dtype}), axis, {.keepdims = keepdims}) / scale;
    return {values, scale};
}

namespace {

array as_rows(const array& given, DType dtype, bool rowvar) {
    const array rows = given.ndim() < 2 ? reshape(given, {1, -1}) : given;
    const bool turned = !rowvar && given.ndim() != 1 && rows.shape()[0] != 1;
    return astype(turned ? transpose(rows) : rows, dtype);
}

void check_weights(const array& weights, const char* name, int64_t observations) {
    if (weights.ndim() > 1) throw RuntimeError("cannot handle multidimensional " + std::string(name));
    if (weights.ndim() == 0) throw IndexError("tuple index out of range");
    if (weights.shape()[0] != observations)
        throw RuntimeError("incompatible numbers of samples and " + std::string(name));
    if (truth_of(any(weights < 0))) throw ValueError(std::string(name) + " cannot be negative");
}

}  // namespace

array cov(const array& m, const std::optional<array>& y, const CovarianceOptions& options) {
    if (options.ddof && *options.ddof != std::trunc(*options.ddof)) throw ValueError("ddof must be integer");
    if (m.ndim() > 2) throw ValueError("m has more than 2 dimensions");
    if (y && y->ndim() > 2) throw ValueError("y has more than 2 dimensions");
    DType dtype = promote_types(m.dtype(), ScalarType::kFloat64);
    if (y) dtype = promote_types(dtype, y->dtype());
    if (options.dtype) dtype = *options.dtype;
    array x = as_rows(m, dtype, options.rowvar);
    if (y) x = concatenate({x, as_rows(*y, dtype, options.rowvar)}, 0);
    const int64_t observations = x.shape()[1];
    const double ddof = options.ddof.value_or(options.bias ? 0 : 1);
    std::optional<array> weights;
    if (options.fweights) {
        const array& given = *options.fweights;
        if (given.dtype().is_floating() && !truth_of(all(given == rint(given))))
            throw TypeError("fweights must be integer");
        check_weights(given, "fweights", observations);
        weights = as(given, ScalarType::kFloat64);
    }
    if (options.aweights) {
        const array& given = *options.aweights;
        check_weights(given, "aweights", observations);
        weights = weights ? *weights * given : as(given, ScalarType::kFloat64);
    }
    array center;
    double factor = static_cast<double>(observations) - ddof;
    if (!weights) {
        center = mean(x, 1);
    } else {
        const Average found = average(x, 1, weights);
        center = found.values;
        const double total = as(real(found.weights), ScalarType::kFloat64)(0).item<double>();
        factor = total - ddof;
        if (ddof == 0) factor = total;
        if (ddof != 0 && options.aweights)
            factor = total - ddof *
                                 as(sum(*weights * *options.aweights), ScalarType::kFloat64).item<double>() /
                                 total;
    }
    factor = std::max(factor, 0.0);
    x = x - array(center(all, newaxis));
    array right = transpose(weights ? x * *weights : x);
    if (right.dtype().is_complex()) right = conjugate(right);
    const array product = matmul(x, right);
    const array result = factor != 0 ? product / factor : product * HUGE_VAL;
    return result.size() == 1 ? reshape(result, Shape{}) : result;
}

array corrcoef(const array& x, const std::optional<array>& y, bool rowvar,
               const std::optional<DType>& dtype) {
    const array c = cov(x, y, {.rowvar = rowvar, .dtype = dtype});
    if (c.ndim() == 0) return c / c;
    const array deviation = sqrt(real(diagonal(c)));
    const array found = c / array(deviation(all, newaxis)) / array(deviation(newaxis, all));
    const auto bounded = [](const array& part) { return minimum(maximum(part, -1), 1); };
    if (!found.dtype().is_complex()) return bounded(found);
    return bounded(real(found)) + multiply(bounded(imag(found)), std::complex<double>(0, 1));
}

}  // namespace weft
