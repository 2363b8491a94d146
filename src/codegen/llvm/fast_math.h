// What weft.config.fast_math allows (docs/reference/accuracy.md, "Fast math"): a product and a sum that one
// rounding does (fma), in machine code for CPUs and GPUs, and on GPUs quotients, square roots and
// exponentials of float32 that are not the nearest numbers. Only the op table's own arithmetic: what
// elementary functions are made of stays as it is written.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/bitcode/bitcode_library.h"

namespace weft::codegen {

// Of the op table's functions in a module, before they are inlined.
// Elementary functions of float32 by the GPU's own instructions, as CUDA's fast math has them
// (CUDA C++ Programming Guide, "Intrinsic Functions").
void approximate_functions(llvm::Module& module);
void allow_fast_math(llvm::Module& module, BitcodeTarget target);

// What fastmath=True of a function of the program allows: one rounding, and another order.
void allow_reordering(llvm::Instruction& instruction);

}  // namespace weft::codegen
