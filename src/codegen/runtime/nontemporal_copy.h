// The function by which kernels write with non-temporal stores. Kernels call it; it is defined when they are
// optimised, since the passes that unpack vectors would lose what its stores are.
#pragma once

#include <cstdint>

#include <llvm/IR/Module.h>

namespace weft::codegen {

constexpr uint64_t kLineBytes = 64;

// void (to, from, bytes), fastest where `from` is as far from the start of a cache line as `to`. Whole lines
// are written by non-temporal stores, what is before the first and after the last by ordinary stores. Needs a
// fence before other threads may read (device/cpu).
llvm::Function* declare_copy_lines(llvm::Module& module);

// Defines it, if it was declared, and gives it.
llvm::Function* define_copy_lines(llvm::Module& module);

}  // namespace weft::codegen
