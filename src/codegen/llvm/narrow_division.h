// Divisions of narrow integers by constants, on GPUs: LLVM would compute them in 16 bits, which the hardware
// does not have, and correct what it truncated. A multiplication in 32 bits gives the floor at once.
#pragma once

#include <llvm/IR/PassManager.h>

namespace weft::codegen {

// x / c for unsigned x, and the floor of x / c for signed x and positive c, of 8 and 16 bits.
class NarrowDivisionPass : public llvm::PassInfoMixin<NarrowDivisionPass> {
public:
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::codegen
