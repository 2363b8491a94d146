// Kernel IR to LLVM IR for CPUs: one kernel becomes one function over a box of its grid.
//
//   void kernel(const ArgumentWord* words, const int64_t* lower, const int64_t* upper)
//
// A function of the IR, which has no grid, becomes one that the host calls (codegen/cpu/function_lowering.h).
//
// Arguments are read from `words` once, at the top. parallel(grid) becomes a nest of loops from lower[d] to
// upper[d], the last dimension innermost; since its iterations are independent, the accesses of each loop are
// marked as parallel, which spares the vectoriser every run-time check. Buffers of different alias scopes are
// told apart by LLVM's scoped noalias metadata. Scalars are carried as their parts (two for complex numbers),
// bool as i8 of value 0 or 1.
#pragma once

#include <llvm/IR/Module.h>

#include <span>

#include "codegen/bitcode/bitcode_library.h"
#include "codegen/cpu/function_lowering.h"
#include "ir/ir.h"

namespace weft::codegen {

struct LoweredKernel {
    llvm::Function* function = nullptr;
    int grid_dimensions = 0;
    std::ptrdiff_t most_loads = 0;  // in one body, without those of bodies inside
    bool contiguous = false;  // no loop but the grid's, along whose last dimension all strides are known
};

// Adds the kernel or function to `module`, and the functions that are called of it or of each other. With
// `appends_operations` plain operations are no calls that allow_fast_math would find. Throws
// NotImplementedError naming what this target does not have yet.
LoweredKernel lower_for_cpu(const ir::Function& kernel, const Callees& callees, llvm::Module& module,
                            BitcodeLibrary& library, bool appends_operations);
// The same of what is called lazily, as such a call calls it.
LoweredKernel lower_part_for_cpu(const ir::Function& part, const Callees& callees, llvm::Module& module,
                                 BitcodeLibrary& library, bool appends_operations);

}  // namespace weft::codegen
