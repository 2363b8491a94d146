// Reading through writes (graph/write_window.h): a group that reads an array which writes have put together
// (np.roll, np.concatenate, np.pad, x[1:-1] = ...) reads what was written and what was there before. The
// array itself is not made. The group's space is cut where the windows of the writes begin and end, and its
// kernel runs over each box.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/group_draft.h"

namespace weft::planning {

// Whether the write may be read through: nobody else's memory is written, and at known positions.
bool can_be_read_through(const Node& node);

// The space's boxes between the cuts.
int64_t box_count(const std::vector<std::vector<int64_t>>& cuts);
std::vector<SpaceBox> boxes_between(const std::vector<std::vector<int64_t>>& cuts, const Dims& shape);

// Whether the group is of a kind that can be run box by box.
bool runs_by_boxes(const Draft& draft);

// Whether so many boxes cost less than an array that is written and read again.
bool is_worth_boxes(const std::vector<std::vector<int64_t>>& cuts, const Dims& shape);

}  // namespace weft::planning
