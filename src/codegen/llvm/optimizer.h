// LLVM's optimisation passes for kernels: a short list chosen by measurement, since every new kernel waits
// for it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::codegen {

// Inlines the operations into the kernel, brings values out of memory, vectorises. `verify` checks the module
// first and throws InternalError with LLVM's complaint.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, bool verify);

// The same for GPUs, where the target's own passes do a part, and threads take the place of vectors.
// What operations call stands in the kernel itself, its operands as values.
void inline_operations(llvm::Module& module, llvm::TargetMachine& machine);

void optimize_for_ptx(llvm::Module& module, llvm::TargetMachine& machine, bool verify);

}  // namespace weft::codegen
