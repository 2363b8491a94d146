#include "codegen/llvm/source_lines.h"

#include <llvm/BinaryFormat/Dwarf.h>

#include <string>

namespace weft::codegen {

namespace {

// Of the first instruction that has one; 0: there is none.
uint32_t first_line(const ir::Region& region) {
    for (const ir::Instruction& each : region.body) {
        if (each.line != 0) return each.line;
        for (const ir::Region& inner : each.regions) {
            if (const uint32_t line = first_line(inner); line != 0) return line;
        }
    }
    return 0;
}

}  // namespace

SourceLines::SourceLines(llvm::Module& module, std::span<const ir::SourceLine> lines)
    : lines_(lines), builder_(module) {
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    builder_.createCompileUnit(llvm::dwarf::DW_LANG_Python, file_of(1), "weft", /*isOptimized=*/true, "", 0,
                               "", llvm::DICompileUnit::DebugDirectivesOnly);
}

llvm::DIFile* SourceLines::file_of(uint32_t line) {
    const std::string& file = lines_[line - 1].file;
    const size_t folder = file.rfind('/');
    if (folder == std::string::npos) return builder_.createFile(file, "");
    return builder_.createFile(file.substr(folder + 1), file.substr(0, folder));
}

llvm::DebugLoc SourceLines::begin(llvm::Function& function, const ir::Function& source) {
    const uint32_t known = first_line(source.body), first = known == 0 ? 1 : known;
    llvm::DIFile* const file = file_of(first);
    const auto line = static_cast<unsigned>(lines_[first - 1].line);
    llvm::DISubroutineType* const type =
        builder_.createSubroutineType(builder_.getOrCreateTypeArray(llvm::ArrayRef<llvm::Metadata*>{}));
    function_ = builder_.createFunction(
        file, source.name, function.getName(), file, line, type, line, llvm::DINode::FlagZero,
        llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
    function.setSubprogram(function_);
    return at(first);
}

// A function may have lines of other files, in the place of calls.
llvm::DebugLoc SourceLines::at(uint32_t line) {
    llvm::DIFile* const file = file_of(line);
    llvm::DILocalScope* scope = function_;
    if (file != function_->getFile()) scope = builder_.createLexicalBlockFile(function_, file);
    return llvm::DILocation::get(function_->getContext(), static_cast<unsigned>(lines_[line - 1].line), 0,
                                 scope);
}

}  // namespace weft::codegen
