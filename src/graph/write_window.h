// Reading through writes. A write (kUpdate) replaces a window of a storage; who reads the new version reads
// the value inside of the window and the old version outside. Where reads and window run along the same axes
// of the storage, its frame, the window is a box of it, and a space that reads the version can be cut into
// boxes that are wholly inside or wholly outside (planning/pieces.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/index_map.h"
#include "graph/node.h"

namespace weft {

// A storage as a dense array: axes from the largest stride to the smallest, which is an element.
struct Frame {
    Dims shape, strides;  // elements, bytes
    DType dtype;

    bool valid() const { return !shape.empty(); }
};

// How somebody who iterates over `shape` reads a storage.
struct StorageRead {
    const Dims* shape;
    const Dims* strides;
    int64_t offset;
    DType dtype;
};

// The frame in which the window of `update` and all `reads` are boxes, if there is one.
std::optional<Frame> frame_of(const Node& update, std::span<const StorageRead> reads);

// The elements that a read names of a frame; of a dense result.
std::optional<IndexMap> map_into(const Frame& frame, const StorageRead& read);
std::optional<IndexMap> map_into(const NodeResult& result, const Dims& result_shape, const StorageRead& read);

// The whole storage, as its version before a write is read.
StorageRead whole_of(const Frame& frame);

// What `update` writes, in its frame.
struct Window {
    Dims begin, end;  // along the frame's axes
    IndexMap own;     // of the update's dimensions into the frame
    size_t rank = 0;  // how many these are
};
std::optional<Window> window_of(const Frame& frame, const Node& update);

// `map` leads from a space into the frame; the result leads to the update's own dimensions. Points outside of
// the window get indices outside of the update's shape.
IndexMap into_window(const Window& window, const IndexMap& map);

// Where a box of the space is; kBoth where it has to be cut.
enum class Side : uint8_t { kInside, kOutside, kBoth };
Side side_of(const Window& window, const IndexMap& map, std::span<const int64_t> lower,
             std::span<const int64_t> upper);

// Adds to `cuts`, one sorted list for each dimension of the space, where the window begins and ends.
void add_cuts(const Window& window, const IndexMap& map, const Dims& shape,
              std::vector<std::vector<int64_t>>& cuts);

}  // namespace weft
