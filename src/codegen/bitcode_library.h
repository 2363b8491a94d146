// The op table's scalar functions as LLVM bitcode: what a kernel's `apply` and `cast` are made of.
//
// The bitcode embedded in libweft is opened once a context, without reading any function's body; a body is
// read when a kernel first asks for it, and cloned into each module that uses it.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string_view>
#include <vector>

namespace weft::codegen {

class BitcodeLibrary {
public:
    explicit BitcodeLibrary(llvm::LLVMContext& context);

    // The function `void symbol(ptr in0, ..., ptr out0, ...)` inside `module`, to be inlined always. What it
    // refers to comes with it: helpers and constants are cloned, vector math functions declared. Throws
    // InternalError when there is no such symbol.
    llvm::Function* import(std::string_view symbol, llvm::Module& module);

private:
    std::vector<std::unique_ptr<llvm::Module>> parts_;
};

}  // namespace weft::codegen
