// CUDA-style kernels on a GPU: from the IR of what a thread runs to the device's machine code, and how that
// is launched.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/ptx/launches/printed.h"
#include "device/cuda/cuda_device.h"
#include "jit/specialisation.h"
#include "lang/lower.h"

namespace weft::jit {

struct GpuKernel {
    explicit GpuKernel(cuda::CudaDevice& of) : device(of) {}

    cuda::CudaDevice& device;
    std::shared_ptr<cuda::CudaKernel> loaded{};
    bool from_disk = false;
    Options options{};
    std::array<int, 3> block{};     // the only sizes of a block that it is for; 0: any
    std::vector<size_t> sizes{};    // the parameters that are sizes of arrays
    std::vector<size_t> strides{};  // those that are strides
    bool together = false;          // its blocks wait for each other
    bool recursive = false;         // it has functions that come to call themselves
    codegen::PrintedBySite printed{};
    int64_t block_bytes = 0;  // of shared memory, besides what a launch asks for
    // What it takes of each thread, and how many threads a block may therefore have.
    int registers = 0, local_bytes = 0, most_threads = 0;
    mutable std::atomic<int64_t> allowed_bytes{0};  // of shared memory, where that is more than usual
};

// `ir` is its text, `whole` that of the launch on a CPU, which goes with the PTX as comments: for whoever
// reads that, and for the tests' fake driver. Throws NotImplementedError for what GPUs do not have.
std::shared_ptr<const GpuKernel> compile_for_gpu(const lang::Lowered& lowered, const std::string& ir,
                                                 const std::string& whole, const Options& options);
// How many blocks of so many threads run at the same time, where a launch asks for so much shared memory.
int64_t most_blocks_together(const GpuKernel& kernel, int64_t threads, int64_t dynamic_bytes);
// How many threads a block may have where each has so many registers.
int most_threads_with(int registers);
// Gives errors of a launch on a CPU, and what it prints, the numbers that they have on the GPU.
void number_errors_as(std::span<const lang::Site> sites, lang::Lowered& whole);
codegen::CompiledTexts texts_of(const GpuKernel& kernel, const ir::Module& module, const std::string& entry);
std::string describe(const GpuKernel& kernel);

struct LaunchSizes {
    std::array<int64_t, 3> grid, block;
    int64_t dynamic_bytes = 0;
};

// Queues the kernel. `words` are its arguments, without the two that its errors need. Throws ValueError where
// the kernel or the device cannot be launched so, or arrays begin where GPUs cannot read.
void launch(const GpuKernel& kernel, std::span<const ArgumentWord> words, const LaunchSizes& sizes,
            int64_t number);

}  // namespace weft::jit
