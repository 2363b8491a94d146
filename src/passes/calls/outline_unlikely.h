// Loops in the unlikely side of a branch become functions of their own, which are called lazily: what mostly
// never runs is compiled when it is first reached.
//
//   if likely %ok { … } else { for … }   becomes   if likely %ok { … } else { %1 = call lazy @f.part0(…); … }
//
// After all other passes, for they look into what is called no more.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace weft::passes {

// Appends the new functions to `parts`, whose number is in their names. What leaves a loop around it, or
// returns, stays where it is, and so does what uses memory of the block or of a thread.
void outline_unlikely(ir::Function& function, std::vector<ir::Function>& parts);

}  // namespace weft::passes
