// Puts the bodies of called functions in place of the calls. Calls stay of functions that come to call
// themselves, and in functions those of large ones that are called in several places. Lazy calls stay, too.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void inline_calls(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
