// What LLVM says about a module, kept from stderr: its errors, and what the vectoriser says about loops.
#pragma once

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>

#include <string>

namespace weft::codegen {

class Diagnostics final : public llvm::DiagnosticHandler {
public:
    // `vectorization_remarks` may be null: nobody wants them, and LLVM need not make them.
    Diagnostics(std::string& errors, std::string* vectorization_remarks)
        : errors_(errors), remarks_(vectorization_remarks) {}

    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override;
    bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override { return enabled(pass); }
    bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return enabled(pass); }
    bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override { return enabled(pass); }
    bool isAnyRemarkEnabled() const override { return remarks_ != nullptr; }

private:
    bool enabled(llvm::StringRef pass) const { return remarks_ != nullptr && pass == "loop-vectorize"; }
    std::string& errors_;
    std::string* remarks_;
};

}  // namespace weft::codegen
