// What the programs of products in parts share (product_program.cpp, warpgroup_product_program.cpp): float32
// cut into parts of bfloat16, where a block's tile lies, and the ordinary way.
#pragma once

#include "library/products/cuda/kernel_arguments.h"
#include "library/products/cuda/matrix_units.h"

namespace weft::gpu {

constexpr uint32_t kParts = 3;

// Two neighbours in three parts of 8 bits each, both parts in one word, the first one's below. `left_over`
// gets bits that no part has, below the smallest normal numbers, in its lower half.
struct Parts {
    uint32_t words[kParts];
};
inline Parts parts_of(float first, float second, uint32_t& left_over) {
    constexpr uint32_t kBits = 0xFFFF0000U;
    const auto bits = [](float value) { return __builtin_bit_cast(uint32_t, value); };
    const auto cut = [&](float value) { return __builtin_bit_cast(float, bits(value) & kBits); };
    const float first_rest = first - cut(first), second_rest = second - cut(second);
    const float first_low = first_rest - cut(first_rest), second_low = second_rest - cut(second_rest);
    left_over |= bits(first_low) | bits(second_low);
    return {{upper_halves(bits(first), bits(second)), upper_halves(bits(first_rest), bits(second_rest)),
             upper_halves(bits(first_low), bits(second_low))}};
}

// The factors and the result from where a block's tile begins on, and how many rows and columns there are.
template <bool left_transposed, bool right_transposed>
struct ProductTile {
    const float *left, *right;
    float* out;
    uint32_t rows, columns, depth;
    uint64_t left_leading, right_leading, out_leading;

    // Tiles of so many rows and columns.
    ProductTile(const ProductArguments& words, uint32_t tile_rows, uint32_t tile_columns)
        : depth(static_cast<uint32_t>(words.depth)),
          left_leading(words.left_leading),
          right_leading(words.right_leading),
          out_leading(words.out_leading) {
        rows = static_cast<uint32_t>(words.rows);
        columns = static_cast<uint32_t>(words.columns);
        const uint32_t across = (columns + tile_columns - 1) / tile_columns;
        const uint32_t tiles = (rows + tile_rows - 1) / tile_rows * across;
        const uint32_t tile = block() % tiles, batch = block() / tiles;
        const uint32_t row = tile / across * tile_rows, column = tile % across * tile_columns;
        rows -= row;
        columns -= column;
        left = pointer<const float>(words.left) + batch * words.left_batch +
               row * (left_transposed ? 1 : left_leading);
        right = pointer<const float>(words.right) + batch * words.right_batch +
                column * (right_transposed ? right_leading : 1);
        out = pointer<float>(words.out) + batch * words.out_batch + row * out_leading + column;
    }

    bool has(uint32_t row, uint32_t column) const { return row < rows && column < columns; }
    void store(uint32_t row, uint32_t column, float value) const {
        if (has(row, column)) out[row * out_leading + column] = value;
    }

    const float* left_place(uint32_t row, uint32_t k) const {
        return left_transposed ? left + k * left_leading + row : left + row * left_leading + k;
    }
    const float* right_place(uint32_t k, uint32_t column) const {
        return right_transposed ? right + column * right_leading + k : right + k * right_leading + column;
    }

    // One element, as a chain of ordinary multiplications and additions: this takes no registers from what is
    // done as a rule.
    void multiply_plainly(uint32_t row, uint32_t column) const {
        if (!has(row, column)) return;
        const float *from_left = left_place(row, 0), *from_right = right_place(0, column);
        float sum = 0;
#pragma unroll 1
        for (uint32_t k = 0; k < depth; ++k) {
            sum = __builtin_fmaf(*from_left, *from_right, sum);
            from_left += left_transposed ? left_leading : 1;
            from_right += right_transposed ? 1 : right_leading;
        }
        out[row * out_leading + column] = sum;
    }
};

}  // namespace weft::gpu
