// np.moveaxis of one axis: a view; the others keep their order.
#pragma once

#include <cstdint>
#include <utility>

#include "core/shape.h"
#include "weft/array.h"

namespace weft {

inline array move_axis(const array& a, int64_t source, int64_t destination) {
    const auto from = static_cast<size_t>(normalize_axis(source, a.ndim()));
    const auto to = static_cast<size_t>(normalize_axis(destination, a.ndim()));
    Dims shape = a.shape(), strides = a.strides();
    const int64_t extent = shape[from], stride = strides[from];
    shape.erase(from);
    strides.erase(from);
    shape.insert(to, extent);
    strides.insert(to, stride);
    return a.with_view(a.dtype(), std::move(shape), std::move(strides), a.offset());
}

}  // namespace weft
