#include "graph/write_window.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace weft {

namespace {

void add_axes(std::vector<int64_t>& axes, const Dims& shape, const Dims& strides) {
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] != 1 && strides[d] != 0) axes.push_back(std::abs(strides[d]));
    }
}

std::optional<Frame> frame_along(std::vector<int64_t> axes, int64_t bytes, DType dtype) {
    axes.push_back(dtype.itemsize());
    std::sort(axes.begin(), axes.end(), std::greater<>());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    if (axes.back() != dtype.itemsize()) return std::nullopt;
    Frame frame;
    frame.dtype = dtype;
    int64_t outer = bytes;
    for (const int64_t stride : axes) {
        if (outer % stride != 0) return std::nullopt;
        frame.shape.push_back(outer / stride);
        frame.strides.push_back(stride);
        outer = stride;
    }
    return frame;
}

// The first index of a dimension of `extent` elements at which start + factor * index is `bound` or beyond,
// in the direction in which it moves.
int64_t first_at(int64_t bound, int64_t start, int64_t factor) {
    if (factor > 0) {
        const int64_t way = bound - start;
        return way <= 0 ? 0 : (way + factor - 1) / factor;
    }
    const int64_t way = start - bound;  // the first one below the bound
    return way < 0 ? 0 : way / -factor + 1;
}

}  // namespace

std::optional<Frame> frame_of(const Node& update, std::span<const StorageRead> reads) {
    const Access& target = update.update().target;
    const int64_t bytes = update.results[0].bytes;
    std::vector<int64_t> axes;
    add_axes(axes, update.shape, target.strides);
    const auto fits = [&](const Frame& frame) {
        return window_of(frame, update) && std::all_of(reads.begin(), reads.end(), [&](const auto& read) {
                   return map_into(frame, read).has_value();
               });
    };
    if (auto frame = frame_along(axes, bytes, target.dtype); frame && fits(*frame)) return frame;
    for (const StorageRead& read : reads) add_axes(axes, *read.shape, *read.strides);
    if (auto frame = frame_along(std::move(axes), bytes, target.dtype); frame && fits(*frame)) return frame;
    return std::nullopt;
}

std::optional<IndexMap> map_into(const Frame& frame, const StorageRead& read) {
    NodeResult dense;
    dense.dtype = frame.dtype;
    dense.strides = frame.strides;
    return map_into(dense, frame.shape, read);
}

std::optional<IndexMap> map_into(const NodeResult& result, const Dims& result_shape,
                                 const StorageRead& read) {
    Operand operand;
    operand.dtype = read.dtype;
    operand.strides = *read.strides;
    operand.offset = read.offset;
    return read_map(operand, *read.shape, result, result_shape);
}

StorageRead whole_of(const Frame& frame) { return {&frame.shape, &frame.strides, 0, frame.dtype}; }

std::optional<Window> window_of(const Frame& frame, const Node& update) {
    const Access& target = update.update().target;
    auto own = map_into(frame, {&update.shape, &target.strides, target.offset, target.dtype});
    if (!own) return std::nullopt;
    // A dimension that the map lacks would be written again and again.
    size_t walked = 0, mapped = 0;
    for (const int64_t extent : update.shape) walked += extent != 1 ? 1 : 0;
    Window window{own->start, own->start, {}, update.shape.size()};
    for (size_t e = 0; e < frame.shape.size(); ++e) {
        if (own->dimension[e] < 0) {
            ++window.end[e];
            continue;
        }
        ++mapped;
        const int64_t extent = update.shape[static_cast<size_t>(own->dimension[e])];
        if (own->factor[e] == 1) {
            window.end[e] += extent;
        } else if (own->factor[e] == -1) {
            ++window.end[e];
            window.begin[e] -= extent - 1;
        } else {
            return std::nullopt;
        }
    }
    if (walked != mapped) return std::nullopt;
    window.own = std::move(*own);
    return window;
}

IndexMap into_window(const Window& window, const IndexMap& map) {
    const IndexMap& own = window.own;
    IndexMap inside{Dims(window.rank, -1), Dims(window.rank), Dims(window.rank)};
    for (size_t e = 0; e < own.dimension.size(); ++e) {
        if (own.dimension[e] < 0) continue;
        const auto d = static_cast<size_t>(own.dimension[e]);
        inside.dimension[d] = map.dimension[e];
        inside.factor[d] = map.dimension[e] < 0 ? 0 : map.factor[e] * own.factor[e];
        inside.start[d] = (map.start[e] - own.start[e]) * own.factor[e];
    }
    return inside;
}

Side side_of(const Window& window, const IndexMap& map, std::span<const int64_t> lower,
             std::span<const int64_t> upper) {
    bool inside = true;
    for (size_t e = 0; e < window.begin.size(); ++e) {
        int64_t first = map.start[e], last = map.start[e];
        if (map.dimension[e] >= 0) {
            const auto d = static_cast<size_t>(map.dimension[e]);
            first += map.factor[e] * lower[d];
            last += map.factor[e] * (upper[d] - 1);
        }
        const auto [least, most] = std::minmax(first, last);
        if (most < window.begin[e] || least >= window.end[e]) return Side::kOutside;
        inside &= least >= window.begin[e] && most < window.end[e];
    }
    return inside ? Side::kInside : Side::kBoth;
}

void add_cuts(const Window& window, const IndexMap& map, const Dims& shape,
              std::vector<std::vector<int64_t>>& cuts) {
    const Dims lower(shape.size());
    if (side_of(window, map, lower, shape) != Side::kBoth) return;
    for (size_t e = 0; e < window.begin.size(); ++e) {
        if (map.dimension[e] < 0) continue;
        const auto d = static_cast<size_t>(map.dimension[e]);
        for (const int64_t bound : {window.begin[e], window.end[e]}) {
            const int64_t cut = first_at(bound, map.start[e], map.factor[e]);
            if (cut <= 0 || cut >= shape[d]) continue;
            const auto place = std::lower_bound(cuts[d].begin(), cuts[d].end(), cut);
            if (place == cuts[d].end() || *place != cut) cuts[d].insert(place, cut);
        }
    }
}

}  // namespace weft
