// Runs one group of a plan: chooses the kernel form and its arguments, reserves results, launches.
#pragma once

#include "graph/plan.h"

namespace weft {

// Afterwards the group's stored nodes are done. Throws before anything is changed.
void run_group(Group& group, bool fuse);

}  // namespace weft
