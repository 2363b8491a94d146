// Products of float32 on the matrix units of GPUs: the arguments of their kernels
// (library/products/cuda/product_program.cpp, warpgroup_product_program.cpp), and the sizes of the tiles that
// these compute. Made by who launches them (execution/product_on_gpu.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

// out[rows, columns] = left[rows, depth] · right[depth, columns], for each of a batch; all below 2^31. Each
// matrix has neighbouring elements in one of its dimensions, and `leading` elements from one to the next in
// the other; left and right begin at multiples of 16 bytes in both.
struct ProductArguments {
    uint64_t left, right, out;
    uint64_t rows, columns, depth;
    uint64_t left_leading, right_leading, out_leading;
    uint64_t left_batch, right_batch, out_batch;  // elements from one of the batch to the next
};

// What a block computes, by steps of so much of the depth, of which `stages` are in shared memory or on their
// way there. Its warps have 16 * warp_rows x 8 * warp_columns elements each, those of one of `slices` as much
// of each step.
struct MatrixTile {
    uint32_t rows, columns, depth;
    uint32_t warp_rows, warp_columns, slices, stages;

    constexpr uint32_t slice_threads() const {
        return rows / (16 * warp_rows) * (columns / (8 * warp_columns)) * 32;
    }
    constexpr uint32_t threads() const { return slice_threads() * slices; }
    // Rows in shared memory are so long that what a warp reads at once, pairs along the depth, lies in
    // different banks.
    static constexpr uint32_t pitch(uint32_t length, bool along_depth) {
        return length + (along_depth ? 8 : 4);
    }
    constexpr uint32_t left_floats(bool transposed) const {
        return transposed ? depth * pitch(rows, false) : rows * pitch(depth, true);
    }
    constexpr uint32_t right_floats(bool transposed) const {
        return transposed ? columns * pitch(depth, true) : depth * pitch(columns, false);
    }
    constexpr uint32_t shared_bytes(bool left_transposed, bool right_transposed) const {
        const uint32_t steps = stages * (left_floats(left_transposed) + right_floats(right_transposed));
        const uint32_t sums = slices / 2 * rows * columns;
        return (steps > sums ? steps : sums) * 4;
    }
};

// The same by warpgroups, on Hopper's GPUs: one cuts, one multiplies.
struct WarpgroupTile {
    uint32_t rows, columns, depth, stages;

    static constexpr uint32_t kAlignment = 1024;  // of what is shared
    constexpr uint32_t threads() const { return 256; }
    constexpr uint32_t panels() const { return (rows + columns) / 64; }
    constexpr uint32_t stage_bytes() const { return (rows + columns) * depth * 3 * 2; }
    constexpr uint32_t shared_bytes() const { return stages * stage_bytes() + kAlignment; }
};
constexpr WarpgroupTile kWarpgroupTile{64, 128, 64, 3};

// Measured on an H200. In the order of the programs in kernels/programs.cmake.
constexpr MatrixTile kSmallTile{32, 32, 64, 2, 2, 4, 3}, kLargeTile{128, 64, 64, 4, 4, 2, 3};

}  // namespace weft::gpu
