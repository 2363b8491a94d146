// Kernels of this process, found by their canonical form: compiled here or loaded from the cache on disk; and
// the history of what was launched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "codegen/interpreter/executor.h"
#include "device/device.h"
#include "device/kernel.h"
#include "lowering/lower.h"
#include "weft/ops.h"

namespace weft {

struct StoredKernel {
    std::shared_ptr<const CompiledKernel> compiled;
    std::string name, ir;
    double compile_seconds = 0;
    bool is_function = false;  // one of the program that is compiled: `compiled` is not it
    // The same kernel, where it is one that machine code may replace at any time.
    std::shared_ptr<const codegen::BlockKernel> blocks = nullptr;

    bool runs_by_blocks() const { return blocks != nullptr && !blocks->is_replaced(); }
};

// What of the settings decides what a kernel's code is, beside its form.
std::string settings_key();

// What neither the process nor the cache on disk has is interpreted at first, or is compiled, as the tier
// says (docs/internals/tiers.md); `fresh` tells whether it was compiled. A kernel `for_few` points stays
// interpreted where the tier leaves that open. Thread safe.
std::shared_ptr<const StoredKernel> find_or_compile(const KernelForm& form, bool& fresh,
                                                    bool for_few = false);

// One launch, as it is kept: KernelRecord without the texts.
struct LaunchRecord {
    std::shared_ptr<const StoredKernel> kernel;
    double seconds = 0;
    bool fresh = false;      // compiled for this launch
    bool by_blocks = false;  // it began in the vectorised interpreter
    int64_t bytes_read = 0, bytes_written = 0, bytes_streamed = 0, elements = 0;
    int operations = 0;
    DeviceBackend* device = nullptr;       // null: the CPU
    std::string fallback;                  // why it ran on the CPU instead of `device`
    std::shared_ptr<Stopwatch> stopwatch;  // of a GPU, while somebody profiles
};

// Of the process, not of the disk: what is needed next is loaded or compiled again.
void forget_kernels();
uint64_t kernel_generation();  // changes when they are forgotten: plans remember kernels too

// Keeps the last launches, for weft.kernel_history(). What was launched is done: where there is no memory for
// it, the history has a gap.
void record_launch(LaunchRecord record) noexcept;

}  // namespace weft
