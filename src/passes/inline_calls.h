// Puts the bodies of called functions in place of the calls, so that nothing below knows of calls.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void inline_calls(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
