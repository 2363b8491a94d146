// A small block of memory, transposed in vector registers: rows are loaded, shuffled with one another, and
// stored as columns.
#pragma once

#include <cstdint>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PassManager.h>

namespace weft::codegen {

struct Transposition {
    llvm::Type* part = nullptr;
    int64_t parts = 1;  // of an element
    int64_t rows = 0, columns = 0;
    // Elements from a row to the next one, where they are read and where the columns are written as rows.
    int64_t from_stride = 0, to_stride = 0;
};

// Whether a block may have so many rows or columns.
bool is_transposed_by_shuffles(int64_t size);

// A call that stands for it: what optimises kernels takes vectors apart, and only then joins elements to new
// ones.
void call_transpose(llvm::IRBuilder<>& builder, const Transposition& block, llvm::Value* from,
                    llvm::Value* to);

// Puts loads, shuffles and stores in the place of these calls.
class TransposePass : public llvm::PassInfoMixin<TransposePass> {
public:
    static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace weft::codegen
