#include "api/creation/triangles.h"

#include <algorithm>
#include <cmath>

#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "weft/creation.h"
#include "weft/operations.h"

namespace weft {

namespace {

array as_matrix(const array& input) {
    if (input.ndim() == 0) throw TypeError("tril and triu need an array of at least one dimension");
    if (input.ndim() > 1) return input;
    return broadcast_to(input, {input.shape()[0], input.shape()[0]});
}

array below_diagonal(const array& matrix, double k) {
    const size_t last = static_cast<size_t>(matrix.ndim()) - 1;
    return weft::below_diagonal(matrix.shape()[last - 1], matrix.shape()[last], k);
}

}  // namespace

array below_diagonal(int64_t rows, int64_t columns, double k) {
    if (std::isnan(k)) throw ValueError("the number of a diagonal is not a number");
    rows = std::max<int64_t>(rows, 0);
    // Diagonals beyond the corners are all alike.
    const double edge = static_cast<double>(rows) + static_cast<double>(std::max<int64_t>(columns, 0));
    const auto diagonal = static_cast<int64_t>(std::clamp(std::floor(k), -edge, edge));
    return greater_equal(reshape(arange(rows), {rows, 1}), arange(-diagonal, columns - diagonal));
}

array tril(const array& input, double k) {
    const DeviceScope scope(device_of(input));
    const array matrix = as_matrix(input);
    return where(below_diagonal(matrix, k), matrix, zeros(1, matrix.dtype()));
}

array triu(const array& input, double k) {
    const DeviceScope scope(device_of(input));
    const array matrix = as_matrix(input);
    return where(below_diagonal(matrix, std::ceil(k) - 1), zeros(1, matrix.dtype()), matrix);
}

}  // namespace weft
