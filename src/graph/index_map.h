// How the points of a kernel's space name the elements of a node that the kernel computes: each dimension of
// the node has the index start + factor · (index of one dimension of the space), or a fixed one. Slices,
// flips, transposes and broadcasts of pending values are such maps, so that planning (planning/planner.h) can
// take a value into a kernel that reads it through a view.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/node.h"

namespace weft {

struct IndexMap {
    Dims dimension;  // of the space, for each dimension of the node; -1: the index is `start`
    Dims factor, start;

    friend bool operator==(const IndexMap&, const IndexMap&) = default;
};

// The map of a space onto itself. Dimensions of one element are fixed.
IndexMap identity_map(const Dims& shape);

// How a consumer that iterates over `shape` reads through `operand` the elements of a dense result of
// `producer_shape`; none when the view is not of this kind (a reshape, other item types, a diagonal).
std::optional<IndexMap> read_map(const Operand& operand, const Dims& shape, const NodeResult& result,
                                 const Dims& producer_shape);

// `inner` over the dimensions of a node that `outer` maps to the space, so over the space itself.
IndexMap compose(const IndexMap& inner, const IndexMap& outer);

// The operand's strides and offset over a space of `rank` dimensions, when its node is mapped by `map`.
Dims strides_over_space(const Dims& strides, const IndexMap& map, size_t rank);
int64_t offset_over_space(const Dims& strides, int64_t offset, const IndexMap& map);

// Whether each dimension with more than one element is a space dimension as it is: factor 1 from 0.
bool is_plain(const IndexMap& map, const Dims& shape);

}  // namespace weft
