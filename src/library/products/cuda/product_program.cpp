// Products of float32 by the units that GPUs have for matrices of bfloat16, which has the range of float32
// and a third of its bits: each number is the sum of three parts, of whose nine products the six count that
// are not below 2^-24 of the whole. Units add up products in float32 but cut off instead of rounding, so
// every few sums are added by ordinary additions (Ootomo and Yokota, "Recovering single precision accuracy
// from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022, and for three parts Henry,
// Tang and Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
// computations", 2019). What float32 computes exactly is exact so too. A tile where something is not finite,
// or too small for three parts, is computed anew the ordinary way.
//
// WEFT_ENTRY: its name. WEFT_LARGE: which tile. WEFT_LEFT_TRANSPOSED: neighbours of the left
// matrix are in one column; WEFT_RIGHT_TRANSPOSED likewise.
#include "library/products/cuda/product_parts.h"

namespace {

using namespace weft::gpu;

constexpr MatrixTile kTile = WEFT_LARGE ? kLargeTile : kSmallTile;
constexpr bool kLeftTransposed = WEFT_LEFT_TRANSPOSED, kRightTransposed = WEFT_RIGHT_TRANSPOSED;
constexpr uint32_t kThreads = kTile.threads(), kSliceThreads = kTile.slice_threads();
constexpr uint32_t kSliceDepth = kTile.depth / kTile.slices;
constexpr uint32_t kWarpRows = kTile.warp_rows, kWarpColumns = kTile.warp_columns;
constexpr uint32_t kEach = kWarpRows * kWarpColumns * 4;  // elements of the result that a thread has

using Sums = float[kWarpRows][kWarpColumns][4];

// A step of a matrix in shared memory: rows of neighbours.
template <uint32_t rows, uint32_t columns, bool along_depth>
struct Step {
    static constexpr uint32_t kPitch = MatrixTile::pitch(columns, along_depth), kFloats = rows * kPitch;
    static constexpr uint32_t kAcross = columns / 4;       // threads side by side, of four elements each
    static constexpr uint32_t kDown = kThreads / kAcross;  // rows that all threads have at once
    static constexpr uint32_t kChunks = rows / kDown;      // four elements each, of a thread
    static_assert(kThreads % kAcross == 0 && rows % kDown == 0);
};
using Left = Step<kLeftTransposed ? kTile.depth : kTile.rows, kLeftTransposed ? kTile.rows : kTile.depth,
                  !kLeftTransposed>;
using Right = Step<kRightTransposed ? kTile.columns : kTile.depth,
                   kRightTransposed ? kTile.depth : kTile.columns, kRightTransposed>;
static_assert(Left::kFloats == kTile.left_floats(kLeftTransposed));
static_assert(Right::kFloats == kTile.right_floats(kRightTransposed));

class Product {
public:
    explicit Product(const ProductArguments& words)
        : memory_(reinterpret_cast<float*>(block_memory())),
          tile_(words, kTile.rows, kTile.columns),
          slice_(thread() / kSliceThreads) {
        constexpr uint32_t kAcross = kTile.columns / (8 * kWarpColumns);  // warps side by side
        const uint32_t warp = thread() % kSliceThreads / kWarp;
        warp_row_ = warp / kAcross * 16 * kWarpRows;
        warp_column_ = warp % kAcross * 8 * kWarpColumns;
    }

    void run() {
        Sums sums;
        const uint32_t left_over = multiply_in_parts(sums);
        add_slices(sums);
        float rest = 0;  // or nan where anything is not finite
        for_each([&](uint32_t m, uint32_t n, uint32_t c) { rest += sums[m][n][c] - sums[m][n][c]; });
        uint32_t& any = *reinterpret_cast<uint32_t*>(memory_);
        barrier();
        if (thread() == 0) any = 0;
        barrier();
        if (left_over != 0 || (slice_ == 0 && rest != 0)) any = 1;
        barrier();
        if (any != 0) {
            multiply_plainly();
        } else if (slice_ == 0) {
            store(sums);
        }
    }

private:
    template <class Function>
    static void for_each(const Function& function) {
#pragma unroll
        for (uint32_t m = 0; m < kWarpRows; ++m) {
#pragma unroll
            for (uint32_t n = 0; n < kWarpColumns; ++n) {
#pragma unroll
                for (uint32_t c = 0; c < 4; ++c) function(m, n, c);
            }
        }
    }

    // `rows` and `columns` are how many there are from there on.
    template <class Step>
    static void copy(float* shared, const float* from, uint64_t leading, uint32_t rows, uint32_t columns) {
        const uint32_t row = thread() / Step::kAcross, column = thread() % Step::kAcross * 4;
        const uint32_t rest = column < columns ? columns - column : 0, bytes = rest < 4 ? rest * 4 : 16;
        const float* source = from + row * leading + column;
        float* const target = shared + row * Step::kPitch + column;
#pragma unroll
        for (uint32_t k = 0; k < Step::kChunks; ++k) {
            const bool any = row + k * Step::kDown < rows && bytes != 0;
            copy_async(target + k * Step::kDown * Step::kPitch, any ? source : from, any ? bytes : 0);
            source += Step::kDown * leading;
        }
    }
    float* left_step(uint32_t stage) const { return memory_ + stage * Left::kFloats; }
    float* right_step(uint32_t stage) const {
        return memory_ + kTile.stages * Left::kFloats + stage * Right::kFloats;
    }
    // Of the depth, from `depth` on.
    void copy_step(uint32_t stage, uint32_t depth) const {
        float *const left = left_step(stage), *const right = right_step(stage);
        const uint32_t rest = tile_.depth - depth;
        if constexpr (kLeftTransposed) {
            copy<Left>(left, tile_.left + depth * tile_.left_leading, tile_.left_leading, rest, tile_.rows);
        } else {
            copy<Left>(left, tile_.left + depth, tile_.left_leading, tile_.rows, rest);
        }
        if constexpr (kRightTransposed) {
            copy<Right>(right, tile_.right + depth, tile_.right_leading, tile_.columns, rest);
        } else {
            copy<Right>(right, tile_.right + depth * tile_.right_leading, tile_.right_leading, rest,
                        tile_.columns);
        }
    }

    // Neighbours along the depth, from an even one on.
    struct alignas(8) Pair {
        float first, second;
    };
    static Pair left_pair(const float* left, uint32_t row, uint32_t k) {
        if constexpr (kLeftTransposed)
            return {left[k * Left::kPitch + row], left[(k + 1) * Left::kPitch + row]};
        return *reinterpret_cast<const Pair*>(&left[row * Left::kPitch + k]);
    }
    static Pair right_pair(const float* right, uint32_t k, uint32_t column) {
        if constexpr (!kRightTransposed)
            return {right[k * Right::kPitch + column], right[(k + 1) * Right::kPitch + column]};
        return *reinterpret_cast<const Pair*>(&right[column * Right::kPitch + k]);
    }

    // Gives bits that no part has.
    uint32_t multiply_in_parts(Sums& sums) const {
        uint32_t left_over = 0;
        for_each([&](uint32_t m, uint32_t n, uint32_t c) { sums[m][n][c] = 0; });
        constexpr uint32_t kStages = kTile.stages;
        const uint32_t steps = (tile_.depth + kTile.depth - 1) / kTile.depth;
#pragma unroll
        for (uint32_t s = 0; s + 1 < kStages; ++s) {
            if (s < steps) copy_step(s, s * kTile.depth);
            end_copies();
        }
        uint32_t stage = 0, ahead = kStages - 1;
#pragma unroll 1
        for (uint32_t s = 0; s < steps; ++s) {
            wait_for_copies<kStages - 2>();
            barrier();
            if (s + kStages - 1 < steps) copy_step(ahead, (s + kStages - 1) * kTile.depth);
            end_copies();
            add_step(sums, left_over, left_step(stage), right_step(stage));
            stage = stage + 1 == kStages ? 0 : stage + 1;
            ahead = ahead + 1 == kStages ? 0 : ahead + 1;
        }
        wait_for_copies<0>();
        barrier();
        return left_over << 16;
    }

    void add_step(Sums& sums, uint32_t& left_over, const float* left, const float* right) const {
        Sums rest;  // of all products but those of the highest parts
        for_each([&](uint32_t m, uint32_t n, uint32_t c) { rest[m][n][c] = 0; });
#pragma unroll
        for (uint32_t step = 0; step < kSliceDepth; step += 16) {
            const uint32_t k = slice_ * kSliceDepth + step + 2 * (lane() % 4);
            uint32_t left_parts[kParts][kWarpRows][4], right_parts[kParts][kWarpColumns][2];
#pragma unroll
            for (uint32_t m = 0; m < kWarpRows; ++m) {
#pragma unroll
                for (uint32_t r = 0; r < 4; ++r) {
                    const uint32_t row = warp_row_ + 16 * m + lane() / 4 + r % 2 * 8;
                    const Pair pair = left_pair(left, row, k + r / 2 * 8);
                    const Parts parts = parts_of(pair.first, pair.second, left_over);
#pragma unroll
                    for (uint32_t part = 0; part < kParts; ++part) left_parts[part][m][r] = parts.words[part];
                }
            }
#pragma unroll
            for (uint32_t n = 0; n < kWarpColumns; ++n) {
#pragma unroll
                for (uint32_t r = 0; r < 2; ++r) {
                    const Pair pair = right_pair(right, k + r * 8, warp_column_ + 8 * n + lane() / 4);
                    const Parts parts = parts_of(pair.first, pair.second, left_over);
#pragma unroll
                    for (uint32_t part = 0; part < kParts; ++part)
                        right_parts[part][n][r] = parts.words[part];
                }
            }
            const auto add = [&](uint32_t a, uint32_t b) {
#pragma unroll
                for (uint32_t m = 0; m < kWarpRows; ++m) {
#pragma unroll
                    for (uint32_t n = 0; n < kWarpColumns; ++n)
                        multiply_add(rest[m][n], left_parts[a][m], right_parts[b][n]);
                }
            };
            add(2, 0);
            add(0, 2);
            add(1, 1);
            add(1, 0);
            add(0, 1);
#pragma unroll
            for (uint32_t m = 0; m < kWarpRows; ++m) {
#pragma unroll
                for (uint32_t n = 0; n < kWarpColumns; ++n) {
                    float whole[4];
                    multiply(whole, left_parts[0][m], right_parts[0][n]);
#pragma unroll
                    for (uint32_t c = 0; c < 4; ++c) sums[m][n][c] += whole[c];
                }
            }
        }
        for_each([&](uint32_t m, uint32_t n, uint32_t c) { sums[m][n][c] += rest[m][n][c]; });
    }

    void multiply_plainly() const {
#pragma unroll 1
        for (uint32_t e = slice_; e < kEach; e += kTile.slices)
            tile_.multiply_plainly(row_of(e / 4 / kWarpColumns, e % 4),
                                   column_of(e / 4 % kWarpColumns, e % 4));
    }

    // Into the first slice.
    void add_slices(Sums& sums) const {
#pragma unroll
        for (uint32_t half = kTile.slices / 2; half > 0; half /= 2) {
            float* const shared = memory_ + slice_ % half * kEach * kSliceThreads + thread() % kSliceThreads;
            if (slice_ >= half && slice_ < 2 * half) {
                for_each([&](uint32_t m, uint32_t n, uint32_t c) {
                    shared[((m * kWarpColumns + n) * 4 + c) * kSliceThreads] = sums[m][n][c];
                });
            }
            barrier();
            if (slice_ < half) {
                for_each([&](uint32_t m, uint32_t n, uint32_t c) {
                    sums[m][n][c] += shared[((m * kWarpColumns + n) * 4 + c) * kSliceThreads];
                });
            }
            barrier();
        }
    }

    uint32_t row_of(uint32_t m, uint32_t c) const { return warp_row_ + 16 * m + lane() / 4 + c / 2 * 8; }
    uint32_t column_of(uint32_t n, uint32_t c) const {
        return warp_column_ + 8 * n + 2 * (lane() % 4) + c % 2;
    }

    void store(const Sums& sums) const {
        for_each([&](uint32_t m, uint32_t n, uint32_t c) {
            tile_.store(row_of(m, c), column_of(n, c), sums[m][n][c]);
        });
    }

    float* memory_;
    ProductTile<kLeftTransposed, kRightTransposed> tile_;
    uint32_t slice_;
    uint32_t warp_row_, warp_column_;
};

}  // namespace

WEFT_GPU_KERNEL(WEFT_ENTRY, ProductArguments, kThreads, 1) { Product(words).run(); }
