// Lines of the program in what LLVM makes of a module, for profilers: directives in the assembly, without a
// description of variables or types.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <span>

#include "ir/ir.h"

namespace weft::codegen {

class SourceLines {
public:
    // `lines` have to live as long as this.
    SourceLines(llvm::Module& module, std::span<const ir::SourceLine> lines);

    // The function whose code is made now. Gives its first line.
    llvm::DebugLoc begin(llvm::Function& function, const ir::Function& source);
    // A line of the module, by its number from 1 on, in that function.
    llvm::DebugLoc at(uint32_t line);
    void finish() { builder_.finalize(); }

private:
    llvm::DIFile* file_of(uint32_t line);

    std::span<const ir::SourceLine> lines_;
    llvm::DIBuilder builder_;
    llvm::DISubprogram* function_ = nullptr;
};

}  // namespace weft::codegen
