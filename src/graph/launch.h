// Launches one kernel: finds or compiles it, lays out its arguments, and writes down what it did.
#pragma once

#include "graph/kernel_parts.h"

namespace weft {

// Over `extents`: the grid first, then reduced dimensions. Grid dimensions beyond what a launch takes are
// walked here. `counted` is what the history says of elements and bytes.
void launch(const KernelParts& parts, const Dims& extents, const Dims& counted);
inline void launch(const KernelParts& parts, const Dims& extents) { launch(parts, extents, extents); }

}  // namespace weft
