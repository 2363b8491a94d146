// Kernels in C++ that lie outside of weft's own subset, on a GPU: NVRTC compiles them.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "api/kernels/taken_arguments.h"
#include "device/device.h"
#include "weft/cuda/raw_kernel.h"

namespace weft {

/// Why the subset does not have a kernel, for each combination of dtypes.
class Refusals {
public:
    /// Does the work, and gives nothing; or why it lies outside of the subset, where the device is a GPU.
    /// Throws weft::CompileError where it is a CPU, and what the work throws otherwise.
    std::string try_without(const std::string& key, const DeviceBackend& device,
                            const std::function<void()>& work);

private:
    std::mutex mutex_;
    std::map<std::string, std::string> reasons_;
};

class CudaKernels {
public:
    struct Launch {
        std::string name;
        std::string reason;  // why it is outside of the subset
        std::vector<std::string> options;
        std::vector<int64_t> sizes = {};  // before the arguments
        int64_t blocks = 1, threads = 128;
        uint64_t stream = 0;
    };
    /// Queues the kernel of this key, whose text `text` gives where it is new, on the device, a GPU; and
    /// counts it among what fell back. Throws weft::CompileError, DeviceError.
    void launch(const Launch& how, const std::string& key, const std::function<std::string()>& text,
                const TakenArguments& arguments, DeviceBackend& device);

private:
    std::mutex mutex_;
    std::map<std::string, RawKernel> kernels_;
};

}  // namespace weft
