// Kernels compiled in this process, found by their canonical form; and the history of what was launched.
#pragma once

#include <memory>
#include <string>

#include "device/kernel.h"
#include "graph/lower.h"
#include "weft/ops.h"

namespace weft {

struct StoredKernel {
    std::shared_ptr<const CompiledKernel> compiled;
    std::string name, ir;
    double compile_seconds = 0;
};

// Compiles the kernel unless the process has it; `fresh` tells which. Thread safe.
std::shared_ptr<const StoredKernel> find_or_compile(const KernelForm& form, bool& fresh);

// One launch, as it is kept: KernelRecord without the texts.
struct LaunchRecord {
    std::shared_ptr<const StoredKernel> kernel;
    double seconds = 0;
    bool fresh = false;  // compiled for this launch
    int64_t bytes_read = 0, bytes_written = 0, elements = 0;
    int operations = 0;
};

// Keeps the last launches, for weft.kernel_history().
void record_launch(LaunchRecord record);

}  // namespace weft
