#include "codegen/llvm/module_text.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include "weft/errors.h"

namespace weft::codegen {

std::string ir_text(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return stream.str();
}

std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine) {
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                    /*DisableVerify=*/true)) {
        throw InternalError("LLVM cannot emit assembly for " + machine.getTargetTriple().str());
    }
    passes.run(module);
    return std::string(text.begin(), text.end());
}

}  // namespace weft::codegen
