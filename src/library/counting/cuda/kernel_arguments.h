// The arguments of the kernels that count positions on GPUs: read by the kernels as they are, made by
// who launches them (api/counting/bincount_on_gpu.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

constexpr uint32_t kPositionThreads = 256;  // of a block that counts

// How often each position is there.
struct CountArguments {
    uint64_t positions, count, bins, output;
    uint64_t order, begins, weights, team;  // see weft_count_weights
};
constexpr uint32_t kFewBins = 8192;  // of which each block has counts of its own

}  // namespace weft::gpu
