// Loops of one iteration, which inline_calls.h makes of functions that return early, become branches: what
// follows a return runs where it was not taken. A loop inside that is left by a return ends with a flag that
// tells.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void structured_returns(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
