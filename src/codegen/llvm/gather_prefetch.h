// A pass over LLVM IR: loops that read at positions which other memory gives (gathers) ask beforehand for
// what they are going to read there.
#pragma once

#include <llvm/IR/PassManager.h>

namespace weft::codegen {

// No hardware foretells such a read; a core has only as many on the way as its loads in flight. Asked for
// into the second cache, more are. In functions with kGatherPrefetchAttribute each innermost loop computes
// what its reads lead to once more, some 64 elements ahead (at the end of the loop: in its last iteration, so
// that positions are read from where the loop reads them), and prefetches there. It pays where what is read
// lies beyond the second cache. After Ainsworth and Jones, "Software prefetching for indirect memory
// accesses", 2017.
constexpr const char* kGatherPrefetchAttribute = "weft-prefetch-gathers";

class GatherPrefetchPass : public llvm::PassInfoMixin<GatherPrefetchPass> {
public:
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::codegen
