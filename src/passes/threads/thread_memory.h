// Arrays that a thread of a GPU allocates for itself become memory of the thread, which LLVM keeps in
// registers where it can: those of a small constant size that stay where they are made.
//
//   %owner, %a = heap %bytes : …      becomes   %address = intrinsic thread_memory(%bytes)
//   release %owner                              %a = memory %address : …
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void thread_memory(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
