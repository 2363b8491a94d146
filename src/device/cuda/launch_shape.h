// How many blocks and threads a kernel is launched with: from what its image wants, and the sizes of the
// grid.
#pragma once

#include <cstdint>
#include <span>

#include "device/cuda/kernel_image.h"
#include "device/kernel.h"

namespace weft {

struct CudaLaunchShape {
    uint32_t blocks = 0;  // in x; 0: there is nothing to do
    uint32_t threads_x = 1, threads_y = 1;
    uint32_t shared_bytes = 0;  // besides what the kernel allocates itself
    uint32_t blocks_y = 1, blocks_z = 1, threads_z = 1;
    bool together = false;  // all blocks run at the same time, and may wait for each other
};

// Of a grid and a block that the program names; a kernel's own sizes have been checked.
CudaLaunchShape shape_of_blocks(const std::array<int64_t, 3>& grid, const std::array<int64_t, 3>& block,
                                int64_t shared_bytes, bool together);

// Whether the image may be launched with these arguments: alignment, and unless it is wide, sizes. If not,
// one with other PtxOptions (wide, unaligned) may.
bool fits(const CudaKernelImage& image, std::span<const ArgumentWord> words, std::span<const int64_t> grid);
CudaLaunchShape launch_shape(const CudaKernelImage& image, std::span<const ArgumentWord> words,
                             std::span<const int64_t> grid);

}  // namespace weft
