// CUDA-style kernels for NVIDIA GPUs: a function of the IR as what each thread of a launch runs, with those
// that it calls. Grid and block are launched as they are asked for.
//
//   entry(words by value)     its arguments, then the address of a LaunchError and the number of the launch,
//                             the word of the grid's barrier, and how much stack a thread has for its calls
//
// A thread that raises an error ends. The first of all threads writes what it is into the LaunchError
// (device/cuda/launch_error.h). Called functions become part of their callers, but for those that come to
// call themselves. These compare where their frames are with the stack, and raise ir::kTooDeep beyond it.
#pragma once

#include <llvm/IR/Module.h>

#include <span>

#include "codegen/bitcode/bitcode_library.h"
#include "codegen/functions/call_lowering.h"
#include "codegen/ptx/compiler.h"
#include "device/cuda/kernel_image.h"
#include "ir/ir.h"

namespace weft::codegen {

// Adds `entry` and all that it calls to `module`, and fills what `image` says of launches. `lines` are those
// that instructions name, or none. Throws NotImplementedError naming what this target does not have.
void lower_launch_for_ptx(const ir::Function& entry, std::span<const ir::Function> callees,
                          std::span<const ir::SourceLine> lines, const PtxOptions& options,
                          llvm::Module& module, BitcodeLibrary& library, CudaKernelImage& image);

}  // namespace weft::codegen
