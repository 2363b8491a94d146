// Turns reductions and scans into plain loops over accumulators that lie in local arrays, an element a lane:
// LLVM makes vector registers of them without reordering a float sum. The tree is that of docs/kernel-ir.md,
// bit for bit.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void lower_reductions(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
