// How deep compiled functions may call each other: down to an address of the thread's stack.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kStackLimit = "weft_stack_limit";

// Below it no function of compiled code calls another. Some of the stack is left for whatever these call.
int64_t stack_limit();

llvm::Function* declare_stack_limit(llvm::Module& module);

}  // namespace weft::codegen
