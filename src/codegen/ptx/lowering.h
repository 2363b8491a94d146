// Kernel IR to LLVM IR for NVIDIA GPUs: one kernel becomes one entry, whose threads compute the grid's
// points.
//
//   kernel(words by value): an array of ArgumentWords
//
// A thread takes some neighbours of the grid's last dimension, as many as fill 16 bytes of the buffers that
// run along it, and reads and writes these at once where addresses are aligned, small elements anywhere;
// else, and where a row ends, one after another, as far apart as makes neighbouring threads' accesses
// neighbours. Blocks of stencils are tiles, and a thread takes several rows. Indices have 32 bits unless
// `wide`. Buffers of different alias scopes are told apart as on the CPU; what no one writes is read by
// ld.global.nc.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/bitcode/bitcode_library.h"
#include "device/cuda/kernel_image.h"
#include "ir/ir.h"

namespace weft::codegen {

struct PtxLoweringOptions {
    bool wide = false;
    bool unaligned = false;  // buffers may start and step at any byte
};

// Two kernels in one launch (CudaKernelImage::shared_dimensions): the second is a function of its words and
// of what the block that calls it computes. Without columns that is a point, of the number that the function
// gets, and the block is its team. With columns it gets the number of a row and which points of the row; the
// block is cut into teams of up to a warp.
struct PtxSecondKernel {
    llvm::Function* function = nullptr;  // void(words, number, first column, columns)
    int first_word = 0;                  // of its arguments, which come after the first's
};
constexpr int kNoColumns = -1;

// Adds the kernel to `module` and fills what `image` says of launches. Throws NotImplementedError naming what
// this target does not have yet. With a `second` kernel, the last block that is done with what some points of
// it need goes on with these.
llvm::Function* lower_for_ptx(const ir::Function& kernel, const ir::Function* second,
                              const PtxLoweringOptions& options, llvm::Module& module,
                              BitcodeLibrary& library, CudaKernelImage& image);

// The second of two, whose columns run along this dimension. Its words come after those that `image` has, and
// the tickets' address after these.
PtxSecondKernel lower_second_for_ptx(const ir::Function& second, int columns,
                                     const PtxLoweringOptions& options, llvm::Module& module,
                                     BitcodeLibrary& library, CudaKernelImage& image);

}  // namespace weft::codegen
