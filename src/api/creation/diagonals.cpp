#include <algorithm>
#include <cmath>

#include "api/creation/triangles.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/creation.h"
#include "weft/grids.h"
#include "weft/operations.h"

namespace weft {

namespace {

// `length` elements from an element on, along the diagonal of all axes.
array diagonal_from(const array& a, int64_t offset, int64_t length) {
    int64_t step = 0;
    for (const int64_t stride : a.strides()) step += stride;
    return a.with_view(a.dtype(), Dims{length}, Dims{step}, offset);
}

}  // namespace

array diag(const array& v, int64_t k) {
    if (v.ndim() == 2) return diagonal(v, k, 0, 1);
    if (v.ndim() != 1) throw ValueError("Input must be 1- or 2-d.");
    const DeviceScope scope(device_of(v));
    const int64_t extent = v.shape()[0] + std::abs(k);
    const array result = zeros({extent, extent}, v.dtype());
    const int64_t start = k >= 0 ? k : -k * extent;
    assign(diagonal_from(result, start * result.itemsize(), v.shape()[0]), v);
    return result;
}

array diagflat(const array& v, int64_t k) { return diag(ravel(v), k); }

void fill_diagonal(const array& a, const Argument& value, bool wrap) {
    if (a.ndim() < 2) throw ValueError("array must be at least 2-d");
    const Dims& shape = a.shape();
    if (a.ndim() > 2 && std::ranges::any_of(shape, [&](int64_t extent) { return extent != shape[0]; }))
        throw ValueError("All dimensions of input must be of equal length");
    if (!a.writeable()) throw ValueError("assignment destination is read-only");
    const DeviceScope scope(device_of(a));
    // Each diagonal of a tall matrix ends a row above the next.
    const int64_t rows = shape[0], columns = shape[1], apart = columns + 1;
    const int64_t turns = wrap && a.ndim() == 2 && columns > 0 ? (rows + apart - 1) / apart : 1;
    const array given = from_argument(value);
    const array values = given.ndim() == 1 ? given : ravel(given);
    int64_t written = 0;
    for (int64_t turn = 0; turn < turns; ++turn) {
        const int64_t first_row = turn * apart, length = std::min(rows - first_row, columns);
        if (length <= 0) break;
        if (values.size() == 0) throw ValueError("Error setting single item of array.");
        const array target = diagonal_from(a, a.offset() + first_row * a.strides()[0], length);
        if (values.size() == 1) {
            assign(target, reshape(values, Shape{}));
        } else {
            const array places = remainder(arange(written, written + length), values.size());
            assign(target, take(values, places, 0, TakeMode::kRaise));
        }
        written += length;
    }
}

std::vector<array> diag_indices(int64_t n, int64_t ndim) {
    if (ndim <= 0) return {};
    return std::vector<array>(static_cast<size_t>(ndim), arange(n));
}

namespace {

std::pair<array, array> places(const array& condition) {
    const std::vector<array> found = nonzero(condition);
    return {found[0], found[1]};
}

}  // namespace

array tri(int64_t rows, int64_t columns, double k, DType dtype) {
    return astype(below_diagonal(rows, columns, k), dtype, 'K', Casting::kUnsafe, false);
}

std::pair<array, array> tril_indices(int64_t n, double k, std::optional<int64_t> columns) {
    return places(below_diagonal(n, columns.value_or(n), k));
}

std::pair<array, array> triu_indices(int64_t n, double k, std::optional<int64_t> columns) {
    return places(logical_not(below_diagonal(n, columns.value_or(n), std::ceil(k) - 1)));
}

array vander(const array& x, std::optional<int64_t> columns, bool increasing) {
    if (x.ndim() != 1) throw ValueError("x must be a one-dimensional array or sequence.");
    const DeviceScope scope(device_of(x));
    const int64_t count = columns.value_or(x.shape()[0]);
    const array result = ones({x.shape()[0], count}, promote_types(x.dtype(), ScalarType::kInt64));
    if (count <= 1) return result;
    const int64_t stride = result.strides()[1];
    const Dims shape{x.shape()[0], count - 1};
    const Dims strides{result.strides()[0], increasing ? stride : -stride};
    const array powers =
        result.with_view(result.dtype(), shape, strides, increasing ? stride : (count - 2) * stride);
    assign(powers, expand_dims(x, Dims{1}));
    accumulate(op_info(OpId::kMultiply), powers, 1, {.dtype = {}, .out = powers});
    return result;
}

}  // namespace weft
