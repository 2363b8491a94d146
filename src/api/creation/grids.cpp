// Grids, and positions counted through an array.
#include "weft/grids.h"

#include <algorithm>
#include <string>

#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "weft/creation.h"
#include "weft/indexing.h"

namespace weft {

namespace {

// The shape of a row along one of so many axes.
Dims along(size_t axis, size_t ndim, int64_t extent) {
    Dims shape(ndim, 1);
    shape[axis] = extent;
    return shape;
}

void check_grid(const Dims& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) {
        if (extent != 0 && __builtin_mul_overflow(count, extent, &count))
            throw ValueError("broadcast dimensions too large.");
    }
}

}  // namespace

std::vector<array> meshgrid(std::span<const array> axes, const MeshgridOptions& options) {
    const size_t ndim = axes.size();
    std::vector<array> grids;
    Dims shape;
    for (size_t k = 0; k < ndim; ++k) {
        // The first two axes change places.
        const bool is_turned = options.indexing == GridIndexing::kXY && ndim > 1 && k < 2;
        grids.push_back(reshape(axes[k], along(is_turned ? 1 - k : k, ndim, -1)));
        shape.push_back(axes[k].size());
    }
    if (options.indexing == GridIndexing::kXY && ndim > 1) std::swap(shape[0], shape[1]);
    if (!options.sparse) check_grid(shape);
    for (array& grid : grids) {
        if (!options.sparse && grid.shape() != shape) grid = broadcast_to(grid, shape);
        if (options.copy) grid = copy(grid, 'C');
    }
    return grids;
}

std::vector<array> sparse_indices(const Shape& dimensions, DType dtype) {
    std::vector<array> positions;
    for (size_t k = 0; k < dimensions.size(); ++k)
        positions.push_back(
            reshape(arange(dimensions[k], dtype), along(k, dimensions.size(), dimensions[k])));
    return positions;
}

array indices(const Shape& dimensions, DType dtype) {
    const std::vector<array> positions = sparse_indices(dimensions, dtype);
    Dims shape = dimensions;
    shape.insert(0, static_cast<int64_t>(dimensions.size()));
    array result = empty(shape, dtype);
    for (size_t k = 0; k < positions.size(); ++k) {
        const int64_t stride = result.strides()[0];
        Dims strides = result.strides();
        strides.erase(0);
        assign(result.with_view(dtype, dimensions, strides, static_cast<int64_t>(k) * stride), positions[k]);
    }
    return result;
}

std::vector<array> ix_(std::span<const array> positions) {
    std::vector<array> result;
    for (size_t k = 0; k < positions.size(); ++k) {
        if (positions[k].ndim() != 1) throw ValueError("Cross index must be 1 dimensional");
        const array own = positions[k].dtype().is_bool() ? nonzero(positions[k])[0] : positions[k];
        result.push_back(reshape(own, along(k, positions.size(), own.size())));
    }
    return result;
}

namespace {

array as_positions(const array& given) {
    if (!given.dtype().is_integer()) throw TypeError("only int indices permitted");
    return astype(given, ScalarType::kInt64, 'K', Casting::kUnsafe, false);
}

std::pair<int64_t, int64_t> bounds_of(const array& positions) {
    return {min(positions).item<int64_t>(), max(positions).item<int64_t>()};
}

// The axes, those that are counted fastest first.
std::vector<size_t> fastest_first(size_t ndim, char order) {
    std::vector<size_t> axes(ndim);
    for (size_t k = 0; k < ndim; ++k) axes[k] = order == 'F' ? k : ndim - 1 - k;
    return axes;
}

}  // namespace

std::vector<array> unravel_index(const array& indices, const Shape& shape, char order) {
    const DeviceScope scope(device_of(indices));
    const array flat = as_positions(indices);
    int64_t size = 1;
    for (const int64_t extent : shape) {
        if (__builtin_mul_overflow(size, extent, &size))
            throw ValueError(
                "dimensions are too large; arrays and shapes with a total size greater than 'intp' are not "
                "supported.");
    }
    if (shape.empty() && flat.ndim() != 0)
        throw ValueError("multiple indices are not supported for 0d arrays");
    if (flat.size() != 0) {
        const auto [low, high] = bounds_of(flat);
        if (low < 0 || high >= size)
            throw ValueError("index " + std::to_string(low < 0 ? low : high) +
                             " is out of bounds for array with size " + std::to_string(size));
    }
    std::vector<array> result(shape.size());
    int64_t inner = 1;
    for (const size_t axis : fastest_first(shape.size(), order)) {
        const int64_t extent = shape[axis];
        result[axis] = flat;
        if (extent == 0) continue;
        result[axis] = remainder(inner == 1 ? flat : floor_divide(flat, inner), extent);
        inner *= extent;
    }
    return result;
}

array ravel_multi_index(std::span<const array> multi_index, const Shape& dims,
                        std::span<const TakeMode> modes, char order) {
    const bool is_empty = std::ranges::find(dims, 0) != dims.end();
    if (is_empty && std::ranges::any_of(multi_index, [](const array& each) { return each.size() != 0; }))
        throw ValueError("cannot unravel if shape has zero entries (is empty).");
    if (multi_index.size() != dims.size())
        throw ValueError("parameter multi_index must be a sequence of length " + std::to_string(dims.size()));
    if (modes.size() != dims.size()) throw ValueError("there is a mode for each axis");
    if (dims.empty()) throw ValueError("need at least one dimension to count through");
    Dims steps(dims.size());
    int64_t inner = 1;
    for (const size_t axis : fastest_first(dims.size(), order)) {
        steps[axis] = inner;
        if (__builtin_mul_overflow(inner, dims[axis], &inner)) {
            throw ValueError(
                "invalid dims: array size defined by dims is larger than the maximum possible size.");
        }
    }
    const DeviceScope scope(device_of(multi_index[0]));
    array result;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
        array positions = as_positions(multi_index[axis]);
        const int64_t extent = dims[axis];
        if (modes[axis] == TakeMode::kWrap) {
            positions = remainder(positions, extent);
        } else if (modes[axis] == TakeMode::kClip) {
            positions = maximum(minimum(positions, extent - 1), 0);
        } else if (positions.size() != 0) {
            const auto [low, high] = bounds_of(positions);
            if (low < 0 || high >= extent) throw ValueError("invalid entry in coordinates array");
        }
        array part = steps[axis] == 1 ? positions : multiply(positions, steps[axis]);
        result = axis == 0 ? part : add(result, part);
    }
    return dims.size() == 1 ? copy(result) : result;
}

}  // namespace weft
