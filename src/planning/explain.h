// Plans in words, for weft.explain and WEFT_DEBUG.
#pragma once

#include <span>
#include <string>

#include "graph/node.h"
#include "planning/planner.h"

namespace weft {

// One paragraph for a group, which is kernel number `number` of its plan.
std::string describe(const Group& group, size_t number);

// What evaluate would do: one paragraph a kernel, with the reason for each boundary.
std::string explain_plan(std::span<const NodePtr> roots);

}  // namespace weft
