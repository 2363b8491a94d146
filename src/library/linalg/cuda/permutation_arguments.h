// The arguments of the kernel that turns pivots into permutations on GPUs: read by the kernel as they are,
// made by who launches it (api/linalg/gpu/solve_on_gpu.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

constexpr uint32_t kPermutationThreads = 256;

// A block a matrix. Pivots are 64-bit numbers from 1 on, as cuSOLVER gives them.
struct PermutationArguments {
    uint64_t pivots, output, rows;
    uint64_t in_block_memory;  // whether the rows' numbers are exchanged there, 4 bytes each
};
constexpr uint64_t kMostRowsInBlockMemory = 12288;  // 48 KB, which every block may have

}  // namespace weft::gpu
