#include "library/indexing/complement_slabs.h"

#include <algorithm>
#include <cstdlib>

namespace weft {

namespace {

struct Axis {
    int64_t window, stride;          // elements, bytes
    int64_t extent = 0, before = 0;  // elements of the array, and those before the window
    int64_t after() const { return extent - before - window; }
};

}  // namespace

std::optional<std::vector<Slab>> complement_slabs(int64_t bytes, const Dims& shape, const Dims& strides,
                                                  int64_t offset, int64_t itemsize) {
    std::vector<Axis> axes;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0 || strides[d] == 0) return std::nullopt;
        if (strides[d] < 0) offset += (shape[d] - 1) * strides[d];  // walked forwards the bytes are the same
        axes.push_back({shape[d], std::abs(strides[d])});
    }
    // An axis along which the window is one element says nothing: what it would be is part of the next one.
    std::erase_if(axes, [](const Axis& axis) { return axis.window == 1; });
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
    if (axes.empty() || axes.back().stride != itemsize) axes.push_back({1, itemsize});
    int64_t outer = bytes;
    for (Axis& axis : axes) {
        if (outer % axis.stride != 0) return std::nullopt;
        axis.extent = outer / axis.stride;
        axis.before = offset / axis.stride;
        offset -= axis.before * axis.stride;
        if (axis.before < 0 || axis.after() < 0) return std::nullopt;
        outer = axis.stride;
    }
    if (offset != 0) return std::nullopt;
    std::vector<Slab> slabs;
    Slab inside;  // of the axes before this one
    for (size_t d = 0; d < axes.size(); ++d) {
        const Axis& axis = axes[d];
        const auto add = [&](int64_t first, int64_t count, int64_t times, int64_t apart) {
            if (count == 0) return;
            Slab slab = inside;
            slab.offset += first * axis.stride;
            if (times != 1) {
                slab.shape.push_back(times);
                slab.strides.push_back(apart * axis.stride);
            }
            slab.shape.push_back(count * axis.stride / itemsize);  // with the axes behind, which are whole
            slab.strides.push_back(itemsize);
            slabs.push_back(std::move(slab));
        };
        if (axis.before == axis.after()) {
            add(0, axis.before, 2, axis.before + axis.window);
        } else {
            add(0, axis.before, 1, 0);
            add(axis.before + axis.window, axis.after(), 1, 0);
        }
        inside.shape.push_back(axis.window);
        inside.strides.push_back(axis.stride);
        inside.offset += axis.before * axis.stride;
    }
    return slabs;
}

}  // namespace weft
