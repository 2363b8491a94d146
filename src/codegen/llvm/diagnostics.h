// What LLVM says about a module, kept from stderr: its errors, and what the vectoriser says about loops.
#pragma once

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::codegen {

// Where a module has this flag, loops have the number of the program's loop that they are of.
constexpr const char* kTellsLoops = "weft.loops";
constexpr const char* kLoopSite = "weft.loop";

// What became of a loop of the program, or of a copy of it.
struct LoopRemark {
    uint32_t site = 0;
    std::string reason;                   // LLVM's name of why it did not become vectors; empty where it did
    int64_t lanes = 0, side_by_side = 0;  // elements of a vector, and vectors that are computed together
};

struct Remarks {
    std::string text;
    std::vector<LoopRemark> loops;
};

class Diagnostics final : public llvm::DiagnosticHandler {
public:
    // `vectorization_remarks` may be null: nobody wants them, and LLVM need not make them.
    Diagnostics(std::string& errors, Remarks* vectorization_remarks)
        : errors_(errors), remarks_(vectorization_remarks) {}

    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override;
    bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override { return enabled(pass); }
    bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return enabled(pass); }
    bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override { return enabled(pass); }
    bool isAnyRemarkEnabled() const override { return remarks_ != nullptr; }

private:
    bool enabled(llvm::StringRef pass) const { return remarks_ != nullptr && pass == "loop-vectorize"; }
    void note_loop(const llvm::DiagnosticInfoIROptimization& remark);
    std::string& errors_;
    Remarks* remarks_;
    std::string reason_;  // why the loop that is named next is no vectors
};

}  // namespace weft::codegen
