// Turns reductions and scans into plain loops over accumulators that lie in local arrays, an element a lane:
// LLVM makes vector registers of them without reordering a float sum. The tree is that of
// docs/reference/kernel-ir.md, bit for bit.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void lower_reductions(const ir::Module& module, ir::Function& function);

// For GPUs: leaves those that the threads of a team reduce together, 32 lanes, or pairwise, elements of which
// one thread computes one; a point of the grid is then a team's work. Of nested ones the innermost are left.
void lower_reductions_of_threads(const ir::Module& module, ir::Function& function);

// Whether a point of the kernel's grid is the work of several threads: there are reductions as above, blocks
// or shared memory.
bool needs_teams(const ir::Function& kernel);

}  // namespace weft::passes
