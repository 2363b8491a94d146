// Functions of the engine that machine code calls (ops/engine_function.h), each by a symbol of its name, so
// that code on disk finds them.
#pragma once

#include <string>
#include <string_view>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kEngineThrewCall = "weft_engine_threw";

// Where a function threw: the call ends with kStopped (spread.h), and the host throws it again.
void engine_threw();

void* find_engine_symbol(std::string_view symbol);
llvm::Function* declare_engine_function(llvm::Module& module, const std::string& name);
llvm::Function* declare_engine_threw(llvm::Module& module);

}  // namespace weft::codegen
