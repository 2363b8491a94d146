// Shared memory of blocks on CPUs that is too large for the stack, or whose size only the launch knows:
// kernels take it from the process's memory and give it back.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>

namespace weft::codegen {

inline constexpr const char* kTakeSharedMemory = "weft_take_shared_memory";
inline constexpr const char* kGiveSharedMemory = "weft_give_shared_memory";

llvm::Function* declare_take_shared_memory(llvm::Module& module);
llvm::Function* declare_give_shared_memory(llvm::Module& module);

// At least so many bytes, from a cache line on. Kernels cannot be left by an error: without memory the
// process ends.
void* take_shared_memory(int64_t bytes);
void give_shared_memory(void* memory);

}  // namespace weft::codegen
