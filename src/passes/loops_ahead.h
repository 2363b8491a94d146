// Loops that iterations of another loop begin with and that hang on nothing the other loop writes or carries:
// they run ahead for a block of iterations, which step through them together as lanes of vectors
// (lanes_of_loops.h). Then the iterations run in their order, with what their loops came to. Each adds in its
// own order, so no bit changes.
//
//   for %i = … with (%s) { for %j = … with (%t) { A }; B }
//
// becomes, for sixteen %i at a time,
//
//   for %l lanes 16 { for %j = … with (%t) { A }; kept[%l] = %t }; for %i with (%s) { %t = kept[%i - first];
//   B }
//
// A block in which a check of A fails, or whose indices are not all in bounds, runs as it was written.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void loops_ahead(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
