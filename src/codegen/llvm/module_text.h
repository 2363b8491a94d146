// LLVM modules as text: for those who look at a kernel, and as PTX for drivers.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace weft::codegen {

std::string ir_text(const llvm::Module& module);

// The machine's assembly, or PTX. Emitting changes the module.
std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace weft::codegen
