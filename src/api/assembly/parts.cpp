#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

#include "api/recording/part_of_axis.h"
#include "core/shape.h"
#include "weft/assembly.h"

namespace weft {

namespace {

size_t axis_of(const array& ary, int64_t axis) {
    if (axis < -ary.ndim() || axis >= ary.ndim()) throw IndexError("tuple index out of range");
    return static_cast<size_t>(axis < 0 ? axis + ary.ndim() : axis);
}

// ary[start:end] along an axis.
array slice_of(const array& ary, size_t axis, int64_t start, int64_t end) {
    const int64_t extent = ary.shape()[axis];
    const auto within = [&](int64_t place) {
        return std::clamp<int64_t>(place < 0 ? place + extent : place, 0, extent);
    };
    start = within(start);
    return part_of_axis(ary, static_cast<int>(axis), start, std::max<int64_t>(0, within(end) - start));
}

}  // namespace

std::vector<array> array_split(const array& ary, int64_t sections, int64_t axis) {
    const size_t along = axis_of(ary, axis);
    if (sections <= 0) throw ValueError("number sections must be larger than 0.");
    const int64_t extent = ary.shape()[along], length = extent / sections, longer = extent % sections;
    std::vector<array> parts;
    if (static_cast<uint64_t>(sections) > parts.max_size()) throw std::bad_alloc();
    parts.reserve(static_cast<size_t>(sections));
    int64_t start = 0;
    for (int64_t k = 0; k < sections; ++k) {
        const int64_t own = length + (k < longer ? 1 : 0);
        parts.push_back(part_of_axis(ary, static_cast<int>(along), start, own));
        start += own;
    }
    return parts;
}

std::vector<array> array_split(const array& ary, std::span<const int64_t> ends, int64_t axis) {
    const size_t along = axis_of(ary, axis);
    std::vector<array> parts;
    parts.reserve(ends.size() + 1);
    int64_t start = 0;
    for (const int64_t end : ends) {
        parts.push_back(slice_of(ary, along, start, end));
        start = end;
    }
    parts.push_back(slice_of(ary, along, start, ary.shape()[along]));
    return parts;
}

std::vector<array> split(const array& ary, int64_t sections, int64_t axis) {
    const int64_t extent = ary.shape()[axis_of(ary, axis)];
    if (sections > 0 && extent % sections != 0)
        throw ValueError("array split does not result in an equal division");
    return array_split(ary, sections, axis);
}

std::vector<array> unstack(const array& x, int64_t axis) {
    if (x.ndim() == 0) throw ValueError("Input array must be at least 1-d.");
    if (axis < -x.ndim() || axis >= x.ndim()) {
        throw AxisError("source: axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                        std::to_string(x.ndim()));
    }
    const int along = normalize_axis(axis, x.ndim());
    std::vector<array> parts;
    for (int64_t k = 0; k < x.shape()[static_cast<size_t>(along)]; ++k)
        parts.push_back(place_of_axis(x, along, k));
    return parts;
}

array rot90(const array& m, int64_t k, std::array<int64_t, 2> axes) {
    const int ndim = m.ndim();
    if (axes[0] == axes[1] || std::abs(axes[0] - axes[1]) == ndim)
        throw ValueError("Axes must be different.");
    for (const int64_t axis : axes) {
        if (axis < -ndim || axis >= ndim) {
            throw ValueError("Axes=(" + std::to_string(axes[0]) + ", " + std::to_string(axes[1]) +
                             ") out of range for array of ndim=" + std::to_string(ndim) + ".");
        }
    }
    switch (((k % 4) + 4) % 4) {
        case 0: return m.with_view(m.dtype(), m.shape(), m.strides(), m.offset());
        case 1: return swapaxes(flip(m, Dims{axes[1]}), axes[0], axes[1]);
        case 2: return flip(m, Dims{axes[0], axes[1]});
        default: return flip(swapaxes(m, axes[0], axes[1]), Dims{axes[1]});
    }
}

}  // namespace weft
