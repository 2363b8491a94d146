// What stands behind RawModule and RawKernel: the source, and on each device that has used it the code that
// is loaded there.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "execution/cuda_source/module_code.h"
#include "weft/cuda/raw_kernel.h"

namespace weft {

struct StoredKernel;

namespace raw {

struct LoadedModule {
    std::shared_ptr<const ModuleCode> code;
    std::unique_ptr<cuda::LoadedModule> module;
    std::vector<std::string> symbols;  // of its kernels, as far as they are known
};

struct Module {
    explicit Module(ModuleSource given) : source(std::move(given)) {}

    // Compiled and loaded, if it is not yet.
    std::shared_ptr<const LoadedModule> on(cuda::CudaDevice& device);

    const ModuleSource source;

private:
    std::mutex mutex_;  // of what follows; held while it is compiled, so that this happens once
    std::map<cuda::CudaDevice*, std::shared_ptr<const LoadedModule>> loaded_;
};

struct LoadedKernel {
    std::shared_ptr<const LoadedModule> module;
    cuda::FunctionHandle function = nullptr;
    std::optional<KernelSignature> parameters;  // nothing: not even how many
    int most_threads = 0, registers = 0;
    int64_t shared_bytes = 0;                      // of a block, besides what a launch asks for
    std::atomic<int64_t> allowed_bytes{48 << 10};  // of both together
    std::shared_ptr<const StoredKernel> record;    // for the history of launches
    std::atomic<bool> is_recorded{false};
};

struct Kernel {
    Kernel(std::shared_ptr<Module> of, std::string called) : module(std::move(of)), name(std::move(called)) {}

    // Throws ValueError with the names that there are.
    LoadedKernel& on(cuda::CudaDevice& device);
    // What the user has set, for devices that have loaded it and that will.
    void set_most_shared(int64_t bytes);
    void set_carveout(int percent);

    const std::shared_ptr<Module> module;
    const std::string name;

private:
    std::mutex mutex_;  // of what follows
    std::map<cuda::CudaDevice*, std::unique_ptr<LoadedKernel>> loaded_;
    std::optional<int64_t> most_shared_;
    std::optional<int> carveout_;
};

// The GPU of this number, or, for -1, the current device, or the first GPU where that is the CPU. Throws
// DeviceError.
cuda::CudaDevice& gpu_of(int number);
void allow_shared(cuda::CudaDevice& device, const std::string& kernel, LoadedKernel& loaded,
                  int64_t dynamic_bytes);

}  // namespace raw
}  // namespace weft
