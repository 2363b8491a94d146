// Views of parts of an axis, for functions that look at neighbours: an index's work without reading indices.
#pragma once

#include <cstdint>
#include <utility>

#include "weft/array.h"

namespace weft {

/// `count` places from `start` on; both are within the axis.
inline array part_of_axis(const array& a, int axis, int64_t start, int64_t count) {
    const auto d = static_cast<size_t>(axis);
    Dims shape = a.shape();
    shape[d] = count;
    return a.with_view(a.dtype(), std::move(shape), a.strides(), a.offset() + start * a.strides()[d]);
}

/// All but the first, or all but the last; of an axis without elements nothing.
inline array all_but_first(const array& a, int axis) {
    const int64_t extent = a.shape()[static_cast<size_t>(axis)];
    return extent == 0 ? a : part_of_axis(a, axis, 1, extent - 1);
}
inline array all_but_last(const array& a, int axis) {
    const int64_t extent = a.shape()[static_cast<size_t>(axis)];
    return extent == 0 ? a : part_of_axis(a, axis, 0, extent - 1);
}

/// The subarray at a place, which may be counted from the end: an axis less.
inline array place_of_axis(const array& a, int axis, int64_t place) {
    const auto d = static_cast<size_t>(axis);
    Dims shape = a.shape(), strides = a.strides();
    const int64_t start = (place < 0 ? place + shape[d] : place) * strides[d];
    shape.erase(d);
    strides.erase(d);
    return a.with_view(a.dtype(), std::move(shape), std::move(strides), a.offset() + start);
}

}  // namespace weft
