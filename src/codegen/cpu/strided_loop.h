// The function around two kernels that makes a loop over strided operands (ops/op.h) of them.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <span>

namespace weft::codegen {

// Calls `contiguous` where all strides are the `itemsizes`, and else `strided`.
//
//   void loop(char* const* data, const int64_t* strides, int64_t count)
llvm::Function* lower_strided_loop(llvm::Function& contiguous, llvm::Function& strided,
                                   std::span<const int64_t> itemsizes);

}  // namespace weft::codegen
