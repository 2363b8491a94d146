// Reading through writes (graph/write_window.h): a group that reads an array which writes have put together
// (np.roll, np.concatenate, np.pad, x[1:-1] = ...) reads what was written and what was there before. The
// array itself is not made. The group's space is cut where the windows of the writes begin and end, and its
// kernel runs over each box.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/node_set.h"
#include "planning/group_draft.h"

namespace weft::planning {

// Whether the write may be read through: nobody else's memory is written, and at known positions.
bool can_be_read_through(const Node& node);

// A write of a part is in place, where it can be, and costs little. What one or several writes that follow
// each other write over much of the array, is written and read again for nothing.
bool is_written_over(const Node& node, const NodeSet& nodes);

// The space's boxes between the cuts.
int64_t box_count(const std::vector<std::vector<int64_t>>& cuts);
std::vector<SpaceBox> boxes_between(const std::vector<std::vector<int64_t>>& cuts, const Dims& shape);

// Whether the group is of a kind that can be run box by box.
bool runs_by_boxes(const Draft& draft);

// Whether so many boxes cost less than an array that is written and read again.
bool is_worth_boxes(const std::vector<std::vector<int64_t>>& cuts, const Draft& draft);

// Two groups over one space: whether one kernel may run over boxes of both; and the cuts of both.
bool can_share_boxes(const Draft& a, const Draft& b);
std::vector<std::vector<int64_t>> all_cuts(const Draft& a, const Draft& b);

// Bytes that nobody has to write and read when the nodes of a graph read through writes, for each node that
// is element-wise work over such arrays. A reduction reads what is in memory, so such work is stored before
// it.
std::unordered_map<const Node*, int64_t> bytes_read_through(const NodeSet& nodes);

}  // namespace weft::planning
