// Small heap memory of a known size that a function only reads and writes itself becomes local memory, which
// code generation keeps on the stack or in registers. A thread's own memory of CUDA-style kernels is such,
// and so is a small array that a program makes in a loop.
//
//   for %i … { %o, %a = heap 72 …; store %a[%k], %x; release %o }
//                                       →    for %i … { %a = allocate local f64[8] size [9]; … }
//
// Where one is handed on, what the iterations of a loop with lanes make is made once, before the loop. They
// come one after another then.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void local_memory(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
