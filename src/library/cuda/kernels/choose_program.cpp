// The elements, or the positions, where a mask is true, in order: a first kernel counts them by tiles, a
// second one adds up the counts, a third one writes.
#include "library/cuda/kernels/threads.h"
#include "library/cuda/order_words.h"

namespace {

using namespace weft::gpu;

constexpr uint32_t kWarps = kChooseThreads / kWarp, kOfWarp = kChooseTile / kWarps;
static_assert(kOfWarp == kWarp * kWarp);  // a lane keeps what its warp has chosen of 32 elements

struct ChooseMemory {
    uint32_t counts[kWarps];
};
static_assert(sizeof(ChooseMemory) <= kChooseMemoryBytes);

// Lane l gets which of elements 32 l … 32 l + 31 of its warp's are chosen.
uint32_t chosen_by_lanes(const ChooseWords& words, uint64_t begin) {
    const auto* const mask = pointer<const uint8_t>(words.mask);
    uint32_t own = 0;
    if (begin + kOfWarp <= words.count) {
#pragma unroll
        for (uint32_t i = 0; i < kWarp; ++i) {
            const uint32_t chosen = ballot(mask[begin + i * kWarp + lane()] != 0);
            if (lane() == i) own = chosen;
        }
    } else {
        for (uint32_t i = 0; i < kWarp; ++i) {
            const uint64_t at = begin + i * kWarp + lane();
            const uint32_t chosen = ballot(at < words.count && mask[at] != 0);
            if (lane() == i) own = chosen;
        }
    }
    return own;
}

uint64_t begin_of_warp() { return uint64_t{block()} * kChooseTile + warp() * kOfWarp; }

// Calls write(to, from) for each chosen element of the tile.
template <class Write>
void write_chosen(const ChooseWords& words, const Write& write) {
    auto& memory = *reinterpret_cast<ChooseMemory*>(block_memory());
    const uint64_t begin = begin_of_warp();
    const uint32_t own = chosen_by_lanes(words, begin), count = count_ones(own), before = sum_before(count);
    if (lane() == kWarp - 1) memory.counts[warp()] = before + count;
    barrier();
    uint64_t to = pointer<const uint64_t>(words.begins)[block()];
    for (uint32_t w = 0; w < warp(); ++w) to += memory.counts[w];
#pragma unroll 8
    for (uint32_t i = 0; i < kWarp; ++i) {
        const uint32_t chosen = from_lane(own, i), place = from_lane(before, i);
        if ((chosen >> lane() & 1) != 0)
            write(to + place + count_ones(chosen & lanes_before()), begin + i * kWarp + lane());
    }
}

template <class T>
void write_values(const ChooseWords& words) {
    const T* const from = pointer<const T>(words.values);
    T* const to = pointer<T>(words.output);
    write_chosen(words, [&](uint64_t t, uint64_t f) { to[t] = from[f]; });
}

struct alignas(16) Wide {
    uint64_t parts[2];
};

}  // namespace

WEFT_GPU_KERNEL(weft_choose_count, ChooseWords, kChooseThreads, 4) {
    auto& memory = *reinterpret_cast<ChooseMemory*>(block_memory());
    const uint32_t count = count_ones(chosen_by_lanes(words, begin_of_warp()));
    const uint32_t before = sum_before(count);
    if (lane() == kWarp - 1) memory.counts[warp()] = before + count;
    barrier();
    if (thread() != 0) return;
    uint64_t sum = 0;
    for (uint32_t w = 0; w < kWarps; ++w) sum += memory.counts[w];
    pointer<uint64_t>(words.begins)[block()] = sum;
}

// One block: counts of tiles become where each begins; behind them is how many there are.
WEFT_GPU_KERNEL(weft_choose_begin, ChooseWords, kBeginThreads, 1) {
    auto* const sums = reinterpret_cast<uint64_t*>(block_memory());
    auto* const begins = pointer<uint64_t>(words.begins);
    uint64_t all = 0;
    for (uint64_t base = 0; base < words.tiles; base += kBeginThreads) {
        const uint64_t at = base + thread();
        const uint64_t count = at < words.tiles ? begins[at] : 0, before = sum_before(count);
        if (lane() == kWarp - 1) sums[warp()] = before + count;
        barrier();
        uint64_t mine = all + before;
        for (uint32_t w = 0; w < kBeginThreads / kWarp; ++w) {
            if (w < warp()) mine += sums[w];
            all += sums[w];
        }
        if (at < words.tiles) begins[at] = mine;
        barrier();
    }
    if (thread() == 0) begins[words.tiles] = all;
}

WEFT_GPU_KERNEL(weft_choose_1, ChooseWords, kChooseThreads, 4) { write_values<uint8_t>(words); }
WEFT_GPU_KERNEL(weft_choose_2, ChooseWords, kChooseThreads, 4) { write_values<uint16_t>(words); }
WEFT_GPU_KERNEL(weft_choose_4, ChooseWords, kChooseThreads, 4) { write_values<uint32_t>(words); }
WEFT_GPU_KERNEL(weft_choose_8, ChooseWords, kChooseThreads, 4) { write_values<uint64_t>(words); }
WEFT_GPU_KERNEL(weft_choose_16, ChooseWords, kChooseThreads, 4) { write_values<Wide>(words); }
WEFT_GPU_KERNEL(weft_choose_positions, ChooseWords, kChooseThreads, 4) {
    auto* const to = pointer<uint64_t>(words.output);
    write_chosen(words, [&](uint64_t t, uint64_t f) { to[t] = f; });
}
