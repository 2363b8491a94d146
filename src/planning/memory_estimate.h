// What a plan needs of memory, looked at before its first kernel starts: a program that cannot have it is
// told so at once, with every array as it was and no work lost.
#pragma once

#include <cstdint>
#include <span>

#include "planning/planner.h"

namespace weft {

// `nodes`: those that the groups were made of. Bytes that running these in order takes at least, beyond what
// is held at the start: results that are stored, less those (and inputs) that nothing needs any more. Writes
// count for nothing, since they may happen in place.
int64_t least_fresh_bytes(std::span<const Group> groups, const NodeSet& nodes);

// Throws OutOfMemoryError when the device cannot give these bytes. (Where memory ends although they could be
// had, the kernel that lacks it fails before it starts, and what is not computed stays pending.)
void require_memory(std::span<const Group> groups, const NodeSet& nodes);

}  // namespace weft
