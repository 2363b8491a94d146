// What a thread of a CUDA-style kernel has raised: the contract between the code of a kernel (codegen/ptx),
// which writes it, and whoever launches it.
#pragma once

#include <cstdint>

namespace weft {

constexpr int64_t kMostErrorValues = 14;

// In memory that both sides see. Nobody writes over an error before the host has taken it.
struct LaunchError {
    int64_t status;  // 0: none; 1 and the number of an error, as functions return it
    int64_t launch;  // the number that the launch was given
    // What the error tells, 16 bytes each.
    alignas(16) char values[16 * kMostErrorValues];
};

}  // namespace weft
