// Norms of vectors and matrices. What needs no singular values is recorded, and fuses with what makes its
// input.
#include <cmath>
#include <cstring>
#include <numeric>

#include "api/fast/fast_sums.h"
#include "api/linalg/inputs.h"
#include "api/linalg/norm_order.h"
#include "api/recording/real_number.h"
#include "core/float_errors.h"
#include "core/shape.h"
#include "device/devices.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

array inexact(const array& x) {
    const bool counts = x.dtype().is_inexact() || x.dtype().kind() == 'V';
    return counts ? x : astype(x, ScalarType::kFloat64);
}

array squares(const array& x) {
    if (!x.dtype().is_complex()) return multiply(x, x);
    const array re = real(x), im = imag(x);
    return add(multiply(re, re), multiply(im, im));
}

// Of all elements, where they are few.
bool norm_of_few(const array& x, array& result) {
    alignas(16) char element[16];
    DType dtype;
    if (float_errors_watched() || !try_norm(x, dtype, element)) return false;
    const auto bytes = static_cast<size_t>(dtype.itemsize());
    BufferPtr buffer = cpu_device().allocate(bytes);
    std::memcpy(buffer->data(), element, bytes);
    result = array_of(std::move(buffer), dtype, {}, {});
    return true;
}

bool covers_all(const array& x, const Axes& axis) {
    if (!axis.list()) return true;
    if (x.ndim() != 1 || axis.list()->size() != 1) return false;
    const int64_t only = (*axis.list())[0];
    return only == 0 || only == -1;
}

array euclidean(const array& x, const Axes& axis, bool keepdims) {
    if (array result; covers_all(x, axis) && !keepdims && norm_of_few(x, result)) return result;
    return sqrt(sum(squares(x), axis, {.keepdims = keepdims}));
}

bool is_frobenius(const NormOrder& ord) {
    return ord.is_default() || ord.name() == "fro" || ord.name() == "f";
}

array norm_of_vectors(const array& x, const NormOrder& ord, const Axes& axis, bool keepdims) {
    if (ord.name()) throw ValueError("Invalid norm order '" + *ord.name() + "' for vectors");
    if (x.ndim() == 0) normalize_axis((*axis.list())[0], 0);  // throws: a number has no axis
    const std::optional<double> value = value_of(ord);
    if (ord.is_default() || value == 2) return euclidean(x, axis, keepdims);
    if (value && std::isinf(*value)) {
        if (*value > 0) return max(abs(x), axis, {.keepdims = keepdims, .initial = 0});
        return min(abs(x), axis, {.keepdims = keepdims});
    }
    if (value == 0) return sum(astype(not_equal(x, 0), x.dtype().real()), axis, {.keepdims = keepdims});
    if (value == 1) return sum(abs(x), axis, {.keepdims = keepdims});
    const array total = sum(power(abs(x), *ord.number()), axis, {.keepdims = keepdims});
    const array inverse = reciprocal(*ord.number(), {.dtype = total.dtype()});
    const ScalarOperation names(total.ndim() == 0);
    return power(total, inverse);
}

array to_the_end(const array& x, int rows, int columns) {
    Dims order;
    for (int d = 0; d < x.ndim(); ++d) {
        if (d != rows && d != columns) order.push_back(d);
    }
    order.push_back(rows);
    order.push_back(columns);
    return transpose(x, order);
}

array by_singular_values(const array& matrices, const NormOrder& ord, std::optional<double> value) {
    const array values = svdvals(matrices);
    if (ord.name()) return sum(values, -1);
    if (*value > 0) return max(values, -1, {.initial = 0});
    return min(values, -1);
}

array norm_of_matrices(const array& x, const NormOrder& ord, const Dims& axis, bool keepdims) {
    const int rows = normalize_axis(axis[0], x.ndim()), columns = normalize_axis(axis[1], x.ndim());
    if (rows == columns) throw ValueError("Duplicate axes given.");
    array result;
    const std::optional<double> value = is_frobenius(ord) ? std::nullopt : value_of(ord);
    if (is_frobenius(ord)) {
        result = euclidean(x, {rows, columns}, false);
    } else if (ord.name() == "nuc" || value == 2 || value == -2) {
        result = by_singular_values(to_the_end(x, rows, columns), ord, value);
    } else if (value && (std::isinf(*value) || std::abs(*value) == 1)) {
        const int summed = std::isinf(*value) ? columns : rows, other = std::isinf(*value) ? rows : columns;
        const int left = other - (other > summed ? 1 : 0);
        const array sums = sum(abs(x), summed);
        result = *value > 0 ? max(sums, left, {.initial = 0}) : min(sums, left);
    } else {
        throw ValueError("Invalid norm order for matrices.");
    }
    if (!keepdims) return result;
    Dims shape = x.shape();
    shape[static_cast<size_t>(rows)] = shape[static_cast<size_t>(columns)] = 1;
    return reshape(result, shape);
}

}  // namespace

std::optional<double> value_of(const NormOrder& ord) {
    if (!ord.number()) return std::nullopt;
    const auto* given = std::get_if<array>(&*ord.number());
    if (given == nullptr) return real_number(*ord.number());
    if (given->size() != 1) truth_of(*given);  // throws
    if (given->dtype().is_complex()) return std::nullopt;
    return reshape(astype(*given, ScalarType::kFloat64), Dims{}).item<double>();
}

array norm(const array& given, const NormOrder& ord, const Axes& axis, bool keepdims) {
    if (array result; ord.is_default() && !axis.list() && !keepdims && norm_of_few(given, result))
        return result;
    const array x = inexact(given);
    const int ndim = x.ndim();
    if (!axis.list()) {
        const bool whole = ord.is_default() || (ndim == 2 && is_frobenius(ord)) ||
                           (ndim == 1 && ord.number() && value_of(ord) == 2);
        if (whole) {
            const array result = euclidean(x, {}, false);
            return keepdims ? reshape(result, Dims(static_cast<size_t>(ndim), 1)) : result;
        }
    }
    Dims axes;
    if (axis.list()) {
        axes = *axis.list();
    } else {
        axes.resize(static_cast<size_t>(ndim));
        std::iota(axes.begin(), axes.end(), 0);
    }
    if (axes.size() == 1) return norm_of_vectors(x, ord, axes, keepdims);
    if (axes.size() == 2) return norm_of_matrices(x, ord, axes, keepdims);
    throw ValueError("Improper number of dimensions to norm.");
}

array matrix_norm(const array& x, const NormOrder& ord, bool keepdims) {
    return norm(x, ord, {-2, -1}, keepdims);
}

array vector_norm(const array& x, const NormOrder& ord, const Axes& axis, bool keepdims) {
    Dims shape = x.shape(), order;
    std::vector<bool> named(shape.size(), !axis.list());
    array as_vectors;
    if (!axis.list()) {
        as_vectors = ravel(x);
    } else if (axis.list()->size() == 1) {
        return norm(x, ord, normalize_axis((*axis.list())[0], x.ndim()), keepdims);
    } else {
        Dims joined = {1};
        for (const int64_t each : *axis.list()) {
            const auto d = static_cast<size_t>(normalize_axis(each, x.ndim()));
            if (named[d]) throw ValueError("repeated axis");
            named[d] = true;
            order.push_back(static_cast<int64_t>(d));
            joined[0] *= shape[d];
        }
        for (size_t d = 0; d < shape.size(); ++d) {
            if (named[d]) continue;
            order.push_back(static_cast<int64_t>(d));
            joined.push_back(shape[d]);
        }
        as_vectors = reshape(order.empty() ? x : transpose(x, order), joined);
    }
    const array result = norm(as_vectors, ord, 0);
    if (!keepdims) return result;
    for (size_t d = 0; d < shape.size(); ++d) shape[d] = named[d] ? 1 : shape[d];
    return reshape(result, shape);
}

}  // namespace weft::linalg
