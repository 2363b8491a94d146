#include "core/shape.h"
#include "weft/operations.h"
#include "weft/ops.h"
#include "weft/products.h"

namespace weft {

array kron(const array& left, const array& right) {
    if (left.ndim() == 0 || right.ndim() == 0) return multiply(left, right);
    const size_t ndim = static_cast<size_t>(std::max(left.ndim(), right.ndim()));
    const auto extent = [ndim](const array& input, size_t axis) -> int64_t {
        const size_t before = ndim - static_cast<size_t>(input.ndim());
        return axis < before ? 1 : input.shape()[axis - before];
    };
    // The axes of both side by side: (a0, 1, a1, 1, ...) times (1, b0, 1, b1, ...).
    Dims outer, inner, joined;
    for (size_t axis = 0; axis < ndim; ++axis) {
        const int64_t of_left = extent(left, axis), of_right = extent(right, axis);
        outer.push_back(of_left);
        outer.push_back(1);
        inner.push_back(1);
        inner.push_back(of_right);
        joined.push_back(of_left * of_right);
    }
    return reshape(multiply(reshape(left, outer), reshape(right, inner)), joined);
}

}  // namespace weft
