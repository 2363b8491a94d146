// The arguments of the kernels that select elements by a mask on GPUs: read by the kernels as they are, made
// by who launches them (api/indexing/compress_on_gpu.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

// Elements where a mask is true, or their positions.
struct CompressArguments {
    uint64_t mask, count, values, output;
    uint64_t begins, tiles;  // where each tile's begin, and how many there are
};
constexpr uint32_t kCompressThreads = 256, kCompressTile = 8192, kBeginThreads = 1024;
constexpr uint32_t kCompressMemoryBytes = 64, kBeginMemoryBytes = kBeginThreads / 32 * 8;

}  // namespace weft::gpu
