// Products of float32 in parts of bfloat16, as product_program.cpp tells, on Hopper's GPUs: one warpgroup
// cuts what it reads from memory into parts, another one has them multiplied, so that both go on at once.
// Steps of the depth wait in shared memory between them.
//
// WEFT_ENTRY: its name. WEFT_LEFT_TRANSPOSED: neighbours of the left matrix are in one column;
// WEFT_RIGHT_TRANSPOSED likewise.
#include "library/products/cuda/product_parts.h"
#include "library/products/cuda/warpgroup.h"

namespace {

using namespace weft::gpu;

constexpr WarpgroupTile kTile = kWarpgroupTile;
constexpr bool kLeftTransposed = WEFT_LEFT_TRANSPOSED, kRightTransposed = WEFT_RIGHT_TRANSPOSED;
constexpr uint32_t kPanels = kTile.panels();  // of a step: the left factor's, then the right factor's
static_assert(kTile.rows == kPanelExtent && kTile.columns == 128 && kTile.depth == kPanelExtent);
static_assert(kTile.stage_bytes() == kPanels * kParts * kPanelBytes);

// What a thread that cuts has of a panel: four neighbours of each eighth row.
constexpr uint32_t kAcross = kPanelExtent / 4, kDown = kWarpgroup / kAcross;
constexpr uint32_t kChunks = kPanelExtent / kDown;
struct alignas(16) Chunk {
    float values[4];
};
using Chunks = Chunk[kPanels][kChunks];

class Product {
public:
    explicit Product(const ProductArguments& words)
        : memory_(block_memory()), tile_(words, kTile.rows, kTile.columns) {
#ifdef __NVPTX__
        const auto place = static_cast<uint32_t>(
            reinterpret_cast<uintptr_t>((__attribute__((address_space(3))) unsigned char*)memory_));
        memory_ += (kTile.kAlignment - place % kTile.kAlignment) % kTile.kAlignment;
#endif
        steps_ = (tile_.depth + kTile.depth - 1) / kTile.depth;
    }

    void run() {
        const bool multiplies = thread() < kWarpgroup;
        WarpgroupSums sums;
        uint32_t unusual = 0;
        if (multiplies) {
            multiply(sums);
            float rest = 0;  // or nan where anything is not finite
#pragma unroll
            for (float each : sums.sum) rest += each - each;
            unusual = rest != 0;
        } else {
            unusual = cut() << 16;
        }
        uint32_t& any = *reinterpret_cast<uint32_t*>(memory_);
        barrier();
        if (thread() == 0) any = 0;
        barrier();
        if (unusual != 0) any = 1;
        barrier();
        if (any != 0) {
            multiply_plainly();
        } else if (multiplies) {
#pragma unroll
            for (uint32_t e = 0; e < 64; ++e)
                tile_.store(WarpgroupSums::row(e), WarpgroupSums::column(e), sums.sum[e]);
        }
    }

private:
    // Barriers: a stage is full, or may be filled.
    static uint32_t full(uint32_t stage) { return 1 + stage; }
    static uint32_t free(uint32_t stage) { return 1 + kTile.stages + stage; }
    static uint32_t next(uint32_t stage) { return stage + 1 == kTile.stages ? 0 : stage + 1; }
    unsigned char* stage_place(uint32_t stage) const { return memory_ + stage * kTile.stage_bytes(); }
    // The panels of a part follow each other.
    static constexpr uint32_t left_place(uint32_t part) { return part * kPanelBytes; }
    static constexpr uint32_t right_place(uint32_t part) {
        return (kParts + part * (kPanels - 1)) * kPanelBytes;
    }

    // Gives bits that no part has.
    uint32_t cut() const {
        uint32_t left_over = 0, stage = 0;
        Chunks chunks;
        const auto cut_step = [&](uint32_t step, const auto& load_next) {
            if (step >= kTile.stages) wait_at(free(stage), 2 * kWarpgroup);
            unsigned char* const place = stage_place(stage);
            const uint32_t depth = (step + 1) * kTile.depth;
            const float* from = nullptr;
            for_each_chunk([&](uint32_t panel, uint32_t k) {
                cut_chunk(chunks[panel][k], place, panel, k, left_over);
                // From one chunk to the next: addresses of all of them would need too many registers.
                from = k == 0 ? begin_of(panel, depth) : forgotten(from + kDown * leading(panel));
                load_next(chunks[panel][k], from, panel, k, depth);
            });
            show_to_products();
            arrive_at(full(stage), 2 * kWarpgroup);
            stage = next(stage);
        };
        for_each_chunk([&](uint32_t panel, uint32_t k) {
            const float* const from = begin_of(panel, 0) + k * kDown * leading(panel);
            load_inside(chunks[panel][k], from, panel, k, 0);
        });
        // Before the last whole step no load has to look where it is.
        const bool is_inside = tile_.rows >= kTile.rows && tile_.columns >= kTile.columns;
        const uint32_t whole = is_inside ? tile_.depth / kTile.depth : 0;
        uint32_t step = 0;
#pragma unroll 1
        for (; step + 1 < whole; ++step) {
            cut_step(step, [&](Chunk& chunk, const float* from, uint32_t, uint32_t, uint32_t) {
                chunk = *reinterpret_cast<const Chunk*>(from);
            });
        }
#pragma unroll 1
        for (; step < steps_; ++step) {
            cut_step(step, [&](Chunk& chunk, const float* from, uint32_t panel, uint32_t k, uint32_t depth) {
                load_inside(chunk, from, panel, k, depth);
            });
        }
        return left_over;
    }

    template <class Function>
    static void for_each_chunk(const Function& function) {
#pragma unroll
        for (uint32_t panel = 0; panel < kPanels; ++panel) {
#pragma unroll
            for (uint32_t k = 0; k < kChunks; ++k) function(panel, k);
        }
    }
    static uint32_t row_of(uint32_t k) { return thread() % kWarpgroup / kAcross + k * kDown; }
    static uint32_t column_of() { return thread() % kAcross * 4; }

    static constexpr bool is_left(uint32_t panel) { return panel == 0; }
    // Neighbours lie along the result.
    static constexpr bool is_across(uint32_t panel) {
        return is_left(panel) ? kLeftTransposed : !kRightTransposed;
    }
    // Of the result, the panel's first row or column.
    static constexpr uint32_t first_of(uint32_t panel) {
        return is_left(panel) ? 0 : (panel - 1) * kPanelExtent;
    }
    uint64_t leading(uint32_t panel) const {
        return is_left(panel) ? tile_.left_leading : tile_.right_leading;
    }
    // This thread's first chunk of the step that begins at that depth.
    const float* begin_of(uint32_t panel, uint32_t depth) const {
        const uint32_t row = row_of(0) + (is_across(panel) ? depth : first_of(panel));
        const uint32_t column = column_of() + (is_across(panel) ? first_of(panel) : depth);
        return (is_left(panel) ? tile_.left : tile_.right) + row * leading(panel) + column;
    }

    // Zeros beyond the ends; neighbours come in fours.
    void load_inside(Chunk& chunk, const float* from, uint32_t panel, uint32_t k, uint32_t depth) const {
        const uint32_t row = row_of(k), column = column_of(), first = first_of(panel);
        const uint32_t extent = is_left(panel) ? tile_.rows : tile_.columns;
        const bool is_inside = is_across(panel) ? depth + row < tile_.depth && first + column < extent
                                                : first + row < extent && depth + column < tile_.depth;
        const float* const begin = is_left(panel) ? tile_.left : tile_.right;
        const Chunk loaded = *reinterpret_cast<const Chunk*>(is_inside ? from : begin);
#pragma unroll
        for (uint32_t c = 0; c < 4; ++c) chunk.values[c] = is_inside ? loaded.values[c] : 0.0F;
    }

    static void cut_chunk(const Chunk& chunk, unsigned char* stage, uint32_t panel, uint32_t k,
                          uint32_t& left_over) {
        const Parts first = parts_of(chunk.values[0], chunk.values[1], left_over);
        const Parts second = parts_of(chunk.values[2], chunk.values[3], left_over);
        struct alignas(8) Two {
            uint32_t words[2];
        };
        const uint32_t place = place_in_panel(row_of(k), column_of());
#pragma unroll
        for (uint32_t part = 0; part < kParts; ++part) {
            const uint32_t begin =
                panel == 0 ? left_place(part) : right_place(part) + (panel - 1) * kPanelBytes;
            *reinterpret_cast<Two*>(stage + begin + place) = {{first.words[part], second.words[part]}};
        }
    }

    void multiply(WarpgroupSums& sums) const {
        WarpgroupSums rest, whole;  // rest: of all products but those of the highest parts
#pragma unroll
        for (uint32_t e = 0; e < 64; ++e) sums.sum[e] = rest.sum[e] = whole.sum[e] = 0;
        const auto add = [&](WarpgroupSums& more) {
            more.hold();
#pragma unroll
            for (uint32_t e = 0; e < 64; ++e) sums.sum[e] += more.sum[e];
            sums.hold();
        };
        uint32_t stage = 0;
#pragma unroll 1
        for (uint32_t s = 0; s < steps_; ++s) {
            wait_at(full(stage), 2 * kWarpgroup);
            const unsigned char* const place = stage_place(stage);
#pragma unroll
            for (uint32_t k = 0; k < kTile.depth; k += 16) {
                const auto product = [&](WarpgroupSums& to, uint32_t left, uint32_t right, bool fresh) {
                    to.multiply_add(FactorInPanels<kLeftTransposed>{place + left_place(left), k},
                                    FactorInPanels<!kRightTransposed>{place + right_place(right), k}, fresh);
                };
                begin_products();
                product(whole, 0, 0, true);
                end_products();
                product(rest, 2, 0, k == 0);
                product(rest, 0, 2, false);
                product(rest, 1, 1, false);
                product(rest, 1, 0, false);
                product(rest, 0, 1, false);
                end_products();
                wait_for_products<1>();
                add(whole);
            }
            wait_for_products<0>();
            if (s + kTile.stages < steps_) arrive_at(free(stage), 2 * kWarpgroup);
            add(rest);
            stage = next(stage);
        }
    }

    // By ordinary multiplications and additions, of float32 as it is.
    void multiply_plainly() const {
        constexpr uint32_t kDepth = 16, kSide = 16;  // a step; threads side by side
        constexpr uint32_t kThreads = kTile.threads();
        constexpr uint32_t kRows = kTile.rows / (kThreads / kSide), kColumns = kTile.columns / kSide;
        constexpr uint32_t kLeft = kDepth * kTile.rows / kThreads;  // what a thread brings of a step
        constexpr uint32_t kRight = kDepth * kTile.columns / kThreads;
        static_assert(kRows == 4 && kColumns == 8);
        auto* const left = reinterpret_cast<float*>(memory_);  // [depth][rows], [depth][columns]
        float* const right = left + kDepth * kTile.rows;
        const uint32_t row = thread() / kSide * 4, column = thread() % kSide * 4;  // and 64 columns on
        float sums[kRows][kColumns] = {};
#pragma unroll 1
        for (uint32_t depth = 0; depth < tile_.depth; depth += kDepth) {
            float from_left[kLeft], from_right[kRight];
#pragma unroll
            for (uint32_t i = 0; i < kLeft; ++i) {
                const uint32_t place = i * kThreads + thread(), k = depth + place / kTile.rows;
                const uint32_t at = place % kTile.rows;
                const bool is_inside = k < tile_.depth && at < tile_.rows;
                from_left[i] = is_inside ? *tile_.left_place(at, k) : 0.0F;
            }
#pragma unroll
            for (uint32_t i = 0; i < kRight; ++i) {
                const uint32_t place = i * kThreads + thread(), k = depth + place / kTile.columns;
                const uint32_t at = place % kTile.columns;
                const bool is_inside = k < tile_.depth && at < tile_.columns;
                from_right[i] = is_inside ? *tile_.right_place(k, at) : 0.0F;
            }
            barrier();
#pragma unroll
            for (uint32_t i = 0; i < kLeft; ++i) left[i * kThreads + thread()] = from_left[i];
#pragma unroll
            for (uint32_t i = 0; i < kRight; ++i) right[i * kThreads + thread()] = from_right[i];
            barrier();
#pragma unroll 2
            for (uint32_t k = 0; k < kDepth; ++k) {
                const Chunk rows = *reinterpret_cast<const Chunk*>(&left[k * kTile.rows + row]);
                const auto* const columns =
                    reinterpret_cast<const Chunk*>(&right[k * kTile.columns + column]);
                const Chunk halves[2] = {columns[0], columns[kTile.columns / 2 / 4]};
#pragma unroll
                for (uint32_t m = 0; m < kRows; ++m) {
#pragma unroll
                    for (uint32_t n = 0; n < kColumns; ++n)
                        sums[m][n] = __builtin_fmaf(rows.values[m], halves[n / 4].values[n % 4], sums[m][n]);
                }
            }
        }
#pragma unroll
        for (uint32_t m = 0; m < kRows; ++m) {
#pragma unroll
            for (uint32_t n = 0; n < kColumns; ++n)
                tile_.store(row + m, column + n / 4 * (kTile.columns / 2) + n % 4, sums[m][n]);
        }
    }

    unsigned char* memory_;
    ProductTile<kLeftTransposed, kRightTransposed> tile_;
    uint32_t steps_;
};

}  // namespace

WEFT_GPU_KERNEL(WEFT_ENTRY, ProductArguments, kTile.threads(), 1) { Product(words).run(); }
