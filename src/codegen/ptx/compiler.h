// Kernel IR in, PTX out, with what a launch has to know of it: the door to LLVM's NVPTX target. The device
// loads the text by the driver, whose compiler makes machine code of it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "codegen/ptx/launches/printed.h"
#include "device/cuda/kernel_image.h"
#include "ir/ir.h"

namespace weft::codegen {

struct PtxOptions {
    int sm = 80;             // the least compute capability that the kernel shall run on
    bool wide = false;       // 64-bit indices
    bool unaligned = false;  // buffers may start and step at any byte
    bool fast_math = false;  // see codegen/llvm/fast_math.h
    // Another kernel of the module, which follows in the same launch (CudaKernelImage::shared_dimensions).
    std::string second = {};
    // Of a launch: how many threads its blocks have along each axis; 0: as many as each launch says.
    std::array<int, 3> block{};
    // Of a launch: its blocks wait for each other.
    bool together = false;
    // Of a launch, as its program asks: the most registers of a thread, the most threads of a block, and how
    // many blocks a multiprocessor shall hold at once; 0: as the driver likes.
    int most_registers = 0, most_threads = 0, blocks_at_once = 0;
    // Of a launch: the parameters that are sizes of arrays, by their numbers: they are not negative.
    std::vector<size_t> sizes{};
    // Those that are strides of arrays, in bytes, each behind its array.
    std::vector<size_t> strides{};
    // Of a launch: functions that come to call themselves, for which a launch says how much stack there is.
    bool recursive = false;
    // Of a launch: what it prints.
    PrintedBySite printed{};
    // NVIDIA's bitcode of elementary functions, a file; empty: find_libdevice().
    std::string libdevice = {};
};

struct PtxTexts {
    std::string ir_after_passes, llvm_ir;
    bool uses_gpu_math = false, uses_libdevice = false;  // whose results have not the CPU's bits
};

// Thread safe. Throws InternalError (with the IR) when weft itself is at fault, NotImplementedError for what
// kernels for GPUs cannot do yet, and DeviceError when libdevice is needed and cannot be found or read.
CudaKernelImage compile_ptx(const ir::Module& module, const std::string& kernel_name,
                            const PtxOptions& options, PtxTexts* texts = nullptr);

// The same of a function that each thread of a launch runs (codegen/ptx/launch_lowering.h).
CudaKernelImage compile_launch_for_ptx(const ir::Module& module, const std::string& entry,
                                       const PtxOptions& options, PtxTexts* texts = nullptr);

// Kernel IR in front of PTX, and what it prints: for whoever reads that, and for the tests' fake driver,
// which runs it on a CPU.
std::string as_comments(const std::string& ir, const PrintedBySite& printed = {});

// libdevice.10.bc below CUDA_HOME or CUDA_PATH, or of the toolkit in its usual place; empty when there is
// none.
std::string find_libdevice();

}  // namespace weft::codegen
