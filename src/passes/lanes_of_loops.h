// Loops whose iterations do not depend on each other (lanes of the IR), with loops inside that add up:
// several iterations take each step of the loops inside together, so that they are lanes of vectors. Each
// still adds in its own order, so no bit changes.
//
//   for %i = … lanes 16 { A; for %j = … with (%s) { B }; C }
//
// becomes, for sixteen %i at a time, with arrays of an element a lane for %s and what A leaves for B and C,
//
//   for lanes { A }; for %j = … { for lanes { B } }; for lanes { C }
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void lanes_of_loops(const ir::Module& module, ir::Function& function);

// Whether the iterations of such a loop can step through the loops inside together, and whether that is worth
// it.
bool can_step_together(const ir::Function& function, const ir::Instruction& loop);

}  // namespace weft::passes
