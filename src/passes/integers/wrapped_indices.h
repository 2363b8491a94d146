// Indices of loops that may count from the end: only what is out of bounds as it is has the size added, and
// is looked at again. So an index that is in bounds costs one comparison, and the address does not wait for
// more.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void wrapped_indices(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
