// Reductions of side-by-side elements by ahead-of-time loops: one block of a `reduce` with 32 lanes
// (docs/reference/kernel-ir.md) for the operations that reductions combine with.
#pragma once

#include <cstdint>

#include "ops/op.h"

namespace weft {

constexpr int64_t kFoldLanes = 32;

/// Combines each of `count` contiguous elements (one at least), in order, with lane number k % kFoldLanes,
/// which starts from `initial` and is the operand on the left, then the lanes by halves, into `result`. Lanes
/// without an element take no part. Pointers need no alignment.
using LaneFold = void (*)(const char* elements, int64_t count, const char* initial, char* result);

/// Of one of the op table's loops; null where there is none.
LaneFold find_lane_fold(const LoopInfo& loop);

}  // namespace weft
