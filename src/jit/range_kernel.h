// Loops over a range of positions, from kernel IR that a frontend has made (lang/c_source/ranges.h) to
// machine code, and how these run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "device/kernel.h"
#include "ir/ir.h"

namespace weft {
class DeviceBackend;
}

namespace weft::jit {

struct GpuKernel;  // jit/gpu_kernel.h

struct RangeKernel {
    std::string name, ir;
    double compile_seconds = 0;
    bool from_disk = false;
    std::shared_ptr<const CompiledFunction> code;
    std::shared_ptr<const GpuKernel> gpu;  // in place of the code
};

/// Of the module's function `entry`, which calls the others.
std::shared_ptr<const RangeKernel> compile_range(const ir::Module& module, const std::string& entry);
/// `thread` is what one thread of a launch runs, `whole` the same work for a CPU. Throws NotImplementedError
/// for what GPUs do not have.
std::shared_ptr<const RangeKernel> compile_range_for_gpu(const ir::Module& thread, const ir::Module& whole,
                                                         const std::string& entry, DeviceBackend& device);

/// What a failed check tells.
struct RangeError {
    uint32_t site = 0;
    int64_t index = 0, size = 0;
};
RangeError range_error(int64_t status, const char* values);

std::optional<RangeError> run_range(const RangeKernel& kernel, std::span<const ArgumentWord> words);
/// Queues blocks of `block` threads for `count` positions; what their threads raise is known later.
void launch_range(const RangeKernel& kernel, std::span<const ArgumentWord> words, int64_t count,
                  int64_t block, int64_t number);

}  // namespace weft::jit
