// A pass over LLVM IR: what a vectorised loop is going to read and write is asked of memory beforehand.
#pragma once

#include <llvm/IR/PassManager.h>

namespace weft::codegen {

// The processor's own prefetching stops where a page ends and begins anew with each row; a row of a few
// thousand bytes is over before it has begun. Loops that the vectoriser made get a prefetch for each cache
// line of their loads and stores, kPrefetchBytes ahead, in functions with kPrefetchAttribute: it pays where
// the lines are in an outer cache, and costs where memory itself is the limit (docs/decisions/0005).
constexpr const char* kPrefetchAttribute = "weft-prefetch";

class PrefetchPass : public llvm::PassInfoMixin<PrefetchPass> {
public:
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::codegen
