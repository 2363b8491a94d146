// Counts of memory's users that change nothing are left out. A function's parameters are alive until it
// returns, since its caller uses them, so that what it counts of them itself says nothing. The same holds
// between a `retain` and the `release` behind it of what the function has allocated, where nothing between
// gives that back. Counts are atomic, and stand in the way of what LLVM moves out of loops.
//
//   retain %a; for … { retain %a; …; release %a }; release %a   becomes   for … { … }
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void borrowed_memory(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
