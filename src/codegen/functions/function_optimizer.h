// LLVM's passes for functions of the program, which branch and loop as their authors liked; those for kernels
// are in codegen/llvm/optimizer.h.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::codegen {

constexpr const char* kLanesProperty = "llvm.loop.vectorize.enable";

// `verify` checks the module first and throws InternalError with LLVM's complaint.
void optimize_function(llvm::Module& module, llvm::TargetMachine& machine, bool verify);
// What the least time is needed for: calls are inlined, what is not needed is left out.
void optimize_quickly(llvm::Module& module, llvm::TargetMachine& machine, bool verify);
// The same for GPUs, where threads take the place of vectors.
void optimize_launch(llvm::Module& module, llvm::TargetMachine& machine, bool verify);

}  // namespace weft::codegen
