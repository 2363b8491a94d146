// Equations of tensors, and powers of matrices: by the functions for matrices.
#include <algorithm>
#include <numeric>

#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "device/devices.h"
#include "weft/creation.h"
#include "weft/products.h"

namespace weft::linalg {

namespace {

// What Python's shape[first:] is, where `first` may be beyond both ends.
Dims from(const Dims& shape, int64_t first) {
    const auto count = static_cast<int64_t>(shape.size());
    if (first < 0) first = std::max<int64_t>(first + count, 0);
    Dims rest;
    for (int64_t d = first; d < count; ++d) rest.push_back(shape[static_cast<size_t>(d)]);
    return rest;
}

array moved_to_end(const array& a, const Dims& axes) {
    const auto ndim = static_cast<size_t>(a.ndim());
    Dims order(ndim);
    std::iota(order.begin(), order.end(), 0);
    for (const int64_t each : axes) {
        const auto at = std::find(order.begin(), order.end(), each);
        if (at == order.end()) throw ValueError("list.remove(x): x not in list");  // as NumPy says it
        order.erase(static_cast<size_t>(at - order.begin()));
        order.push_back(each);
    }
    return order.empty() ? a : transpose(a, order);
}

array identity_like(const array& a) {
    return copy(broadcast_to(eye(a.shape().back(), a.dtype()), a.shape()), 'C');
}

}  // namespace

array tensorsolve(const array& given, const array& b, const std::optional<Dims>& axes) {
    const array a = axes ? moved_to_end(given, *axes) : given;
    const Dims shape = from(a.shape(), b.ndim() - a.ndim());
    const int64_t extent = element_count(shape);
    if (a.size() != extent * extent)
        throw LinAlgError(
            "Input arrays must satisfy the requirement             "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])");
    return reshape(solve(reshape(a, {extent, extent}), ravel(b)), shape);
}

array tensorinv(const array& a, int64_t ind) {
    if (ind <= 0) throw ValueError("Invalid ind argument.");
    Dims shape = from(a.shape(), ind);
    const array inverse = inv(reshape(a, {element_count(shape), -1}));
    if (a.ndim() == 0) throw TypeError("reshape() takes exactly 1 argument (0 given)");  // as NumPy says it
    const auto before = std::min<size_t>(static_cast<size_t>(ind), a.shape().size());
    for (size_t d = 0; d < before; ++d) shape.push_back(a.shape()[d]);
    return reshape(inverse, shape);
}

array matrix_power(const array& a, int64_t n) {
    check_square(a);
    const DeviceScope scope(device_of(a));
    if (n == 0) return identity_like(a);
    const array base = n < 0 ? inv(a) : a;
    uint64_t left = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
    if (left == 3) return matmul(matmul(base, base), base);
    array square = base, result;
    for (;;) {
        if (left % 2 != 0) result = result.valid() ? matmul(result, square) : square;
        left /= 2;
        if (left == 0) return result;
        square = matmul(square, square);
    }
}

}  // namespace weft::linalg
