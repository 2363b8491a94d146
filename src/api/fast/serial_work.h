// Eager work on more than few elements. What exported memory takes part in runs at the call, so
// nothing can join it; as long as one thread would do it, an ahead-of-time loop takes no longer than its
// kernel, and nothing is recorded, planned and launched for it.
#pragma once

#include <cstdint>

#include "ops/op.h"
#include "weft/array.h"

namespace weft {

// Of one operation, or of a copy (null).
bool is_below_serial_cutoff(const OpInfo* op, int64_t elements);

// Whether both have one shape, and their elements lie in one order, as far apart as their sizes make them.
bool lies_as(const array& one, const array& other);

}  // namespace weft
