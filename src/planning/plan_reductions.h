// How a reduction comes into a group that is being planned, and which rows its kernel can walk.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "planning/group_draft.h"

namespace weft::planning {

// How a reduction comes into a group: to one that reduces alike; under element-wise work over its
// result, which becomes the point level; or before element-wise work over its rows.
enum class Entry { kNone, kBeside, kUnder, kBefore };

// Whether what the node stores lies in memory as the walk's merged axes go: with one stride along the rows.
bool walks_results_as_one(const Node& node, const ReductionSpace& walk, const Dims& shape,
                          const IndexMap& map);

Entry entry(const Node& node, const Draft& draft, const std::vector<IndexMap>& maps);
// Rows are walked again from the cache, by one kernel.
bool allows_phases(const Node& node, const ReductionSpace& walk);
// A reduction merges the axes that are one block of memory for its operand; everything that is computed
// inside its kernel must be walked by the same merged axes, or by the same two parts of its rows.
std::optional<size_t> collapse_of_inputs(const Node& node, const ReductionSpace& walk, const Dims& shape,
                                         const std::vector<IndexMap>& maps);
// Whether local memory holds the elements of the group's collapsed reductions, with `more` and `others`.
bool keeps_collapsed_elements(const Draft& draft, const Node* more, std::span<Node* const> others = {});

}  // namespace weft::planning
