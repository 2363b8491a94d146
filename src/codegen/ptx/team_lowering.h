// Kernels for NVIDIA GPUs in which a team of threads computes a point of the grid: where rows are reduced,
// and where the kernel says itself what the threads of a block do.
//
// All threads of a team come to the same instructions outside of blocks, and compute the same values there;
// one of them writes. A reduction's 32 lanes are a warp: each thread accumulates its lane's elements,
// shuffles combine the lanes by halves, and a binary counter, whose digits the lanes hold, combines blocks
// pairwise. The warps of a team take whole subtrees of blocks, which are combined through shared memory. So
// the tree is that of docs/reference/kernel-ir.md whatever the team's size is, and the bits are the CPU's.
#pragma once

#include "codegen/ptx/lowering.h"

namespace weft::codegen {

llvm::Function* lower_teams_for_ptx(const ir::Function& kernel, const ir::Function* second,
                                    const PtxLoweringOptions& options, llvm::Module& module,
                                    BitcodeLibrary& library, CudaKernelImage& image);

}  // namespace weft::codegen
