// Ties calls of scalar math functions to the vector library, so that LLVM vectorises loops through them.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::codegen {

// Marks every declared scalar function of the op room's list as pure and, with `vectors`, names and declares
// its variants for the machine's vector widths.
void declare_vector_math(llvm::Module& module, const llvm::TargetMachine& machine, bool vectors);

// After vectorisation: weft_rarely_f(is_rare, x, usual), of elements and of vectors (ops/scalar/sleef.h),
// gets its body, which is to be inlined: where no element is rare, a branch leads around the call of f.
// Whether there is any.
bool define_rare_ways(llvm::Module& module);

}  // namespace weft::codegen
