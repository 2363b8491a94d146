// A pass over LLVM IR: conversions of floats to int64 by the instruction that says by its result that a float
// was out of range, on x86-64, for code that is not made of vectors.
#pragma once

#include <llvm/IR/PassManager.h>

namespace weft::codegen {

// int(x) is checked by two comparisons of floats, and the cast looks at them, too. cvttsd2si gives the least
// integer for all that is out of range (Intel's manual, volume 2: "integer indefinite"), so one comparison of
// integers tells, and only where it is that, whether the float is the least integer itself.
class FloatToIntegerPass : public llvm::PassInfoMixin<FloatToIntegerPass> {
public:
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::codegen
