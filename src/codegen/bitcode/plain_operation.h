// Operations whose bitcode is a few instructions in a row, put where they are used with their operands as
// values. Others are called, through memory, and inlined by LLVM, which takes several times as long.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <span>
#include <vector>

namespace weft::codegen {

// The parts of the operands in order, and the types of the results' parts, with where they are in memory: by
// argument of `source`, then by byte.
struct OperationPart {
    unsigned argument = 0;
    int64_t offset = 0;
    llvm::Value* value = nullptr;  // of an operand
    llvm::Type* type = nullptr;
};

// Copies what `source`, void(ptr in0, ..., ptr out0, ...), does to the builder's point; gives a value for
// each of `results`. Nothing where the function is not plain: branches, calls, or sees its operands
// otherwise.
std::optional<std::vector<llvm::Value*>> append_plain_operation(llvm::IRBuilder<>& builder,
                                                                const llvm::Function& source,
                                                                std::span<const OperationPart> operands,
                                                                std::span<const OperationPart> results);

}  // namespace weft::codegen
