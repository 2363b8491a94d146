// Reductions across rows (the sum over axis 0 of an array in C order): each point of the grid would walk down
// a column, with a long step between elements. This pass makes the grid hand out ranges of columns instead,
// and walks row by row over a tile of them with an accumulator a column, so that memory is read in order and
// columns are vector lanes. Each column's own order of combination stays as it was.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void loop_interchange(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
