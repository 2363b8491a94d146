// The op table's scalar functions as LLVM bitcode: what a kernel's `apply` and `cast` are made of.
//
// The bitcode embedded in libweft is opened once a context, without reading any function's body; a body is
// read when a kernel first asks for it, and cloned into each module that uses it.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::codegen {

enum class BitcodeTarget : uint8_t { kCpu, kPtx };

// Clones a function of another module of the same context, and what it refers to, into `module`.
llvm::Function* import_function(llvm::Function& source, llvm::Module& module);

class BitcodeLibrary {
public:
    BitcodeLibrary(llvm::LLVMContext& context, BitcodeTarget target);

    // The function `void symbol(ptr in0, ..., ptr out0, ...)` inside `module`, to be inlined always. What it
    // refers to comes with it: helpers and constants are cloned, vector math functions declared. Throws
    // InternalError when there is no such symbol.
    llvm::Function* import(std::string_view symbol, llvm::Module& module);
    // The function where it is, in the library's own module of the same context.
    llvm::Function& find(std::string_view symbol);

private:
    std::unordered_map<std::string, llvm::Function*> found_;
    std::vector<std::unique_ptr<llvm::Module>> parts_;
};

}  // namespace weft::codegen
