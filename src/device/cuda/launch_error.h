// What a thread of a CUDA-style kernel has raised: the contract between the code of a kernel (codegen/ptx),
// which writes it, and whoever launches it.
#pragma once

#include <cstdint>

namespace weft {

constexpr int64_t kMostErrorValues = 17;

// Launches whose errors nobody has looked for yet have a record each.
constexpr int64_t kMostOpenLaunches = 1024;

// In memory that both sides see. The first thread of a launch that raises writes it.
struct LaunchError {
    int64_t status;  // 0: none; 1 and the number of an error, as functions return it
    int64_t launch;  // the number that the launch was given
    // What the error tells, 16 bytes each.
    alignas(16) char values[16 * kMostErrorValues];
};

}  // namespace weft
