// Which values differ between the threads of a block. The verifier needs it for barriers, and so will the
// pass that splits block regions at them.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace weft::ir {

// Indexed by ValueId: whether two threads of one block may hold different values. Memory other than a
// thread's own is taken to look the same from every thread.
std::vector<bool> varying_in_block(const Function& function);

}  // namespace weft::ir
