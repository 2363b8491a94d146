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

/// True at and below diagonal `k` of the last two axes.
array below_diagonal(const array& matrix, double k) {
    const size_t last = static_cast<size_t>(matrix.ndim()) - 1;
    const int64_t rows = matrix.shape()[last - 1], columns = matrix.shape()[last];
    if (std::isnan(k)) throw ValueError("the number of a diagonal is not a number");
    // Diagonals beyond the corners are all alike.
    const double edge = static_cast<double>(rows) + static_cast<double>(columns);
    const auto diagonal = static_cast<int64_t>(std::clamp(std::floor(k), -edge, edge));
    return greater_equal(reshape(arange(rows), {rows, 1}), arange(-diagonal, columns - diagonal));
}

}  // namespace

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
