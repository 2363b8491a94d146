// The elements, or the positions, where a mask is true, in order: a first kernel counts them by tiles, a
// second one adds up the counts, a third one writes.
#include "library/gpu/threads.h"
#include "library/indexing/cuda/kernel_arguments.h"

namespace {

using namespace weft::gpu;

constexpr uint32_t kWarps = kCompressThreads / kWarp, kOfWarp = kCompressTile / kWarps;
static_assert(kOfWarp == kWarp * kWarp);  // a lane keeps what its warp has selected of 32 elements

struct CompressMemory {
    uint32_t counts[kWarps];
};
static_assert(sizeof(CompressMemory) <= kCompressMemoryBytes);

// Lane l gets which of elements 32 l … 32 l + 31 of its warp's are selected.
uint32_t selected_by_lanes(const CompressArguments& words, uint64_t begin) {
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

uint64_t begin_of_warp() { return uint64_t{block()} * kCompressTile + warp() * kOfWarp; }

// Writes value_of(from) to where it belongs, for each selected element of the tile.
template <class T, class ValueOf>
void write_selected(const CompressArguments& words, const ValueOf& value_of) {
    auto& memory = *reinterpret_cast<CompressMemory*>(block_memory());
    const uint64_t begin = begin_of_warp();
    const uint32_t own = selected_by_lanes(words, begin), count = count_ones(own), before = sum_before(count);
    if (lane() == kWarp - 1) memory.counts[warp()] = before + count;
    barrier();
    T* to = pointer<T>(words.output) + pointer<const uint64_t>(words.begins)[block()];
    for (uint32_t w = 0; w < warp(); ++w) to += memory.counts[w];
    // What is read is waited for together.
    constexpr uint32_t kTogether = sizeof(T) == 16 ? 4 : 8;
    for (uint32_t base = 0; base < kWarp; base += kTogether) {
        T values[kTogether];
        uint32_t chosen[kTogether];
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
            chosen[k] = from_lane(own, base + k);
            if ((chosen[k] >> lane() & 1) != 0) values[k] = value_of(begin + (base + k) * kWarp + lane());
        }
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
            const uint32_t place = from_lane(before, base + k) + count_ones(chosen[k] & lanes_before());
            if ((chosen[k] >> lane() & 1) != 0) to[place] = values[k];
        }
    }
}

template <class T>
void write_values(const CompressArguments& words) {
    const T* const from = pointer<const T>(words.values);
    write_selected<T>(words, [&](uint64_t at) { return from[at]; });
}

struct alignas(16) Wide {
    uint64_t parts[2];
};

}  // namespace

WEFT_GPU_KERNEL(weft_compress_count, CompressArguments, kCompressThreads, 4) {
    auto& memory = *reinterpret_cast<CompressMemory*>(block_memory());
    const uint32_t count = count_ones(selected_by_lanes(words, begin_of_warp()));
    const uint32_t before = sum_before(count);
    if (lane() == kWarp - 1) memory.counts[warp()] = before + count;
    barrier();
    if (thread() != 0) return;
    uint64_t sum = 0;
    for (uint32_t w = 0; w < kWarps; ++w) sum += memory.counts[w];
    pointer<uint64_t>(words.begins)[block()] = sum;
}

// One block: counts of tiles become where each begins; behind them is how many there are. A thread adds up
// neighbouring tiles.
WEFT_GPU_KERNEL(weft_compress_begin, CompressArguments, kBeginThreads, 1) {
    auto* const sums = reinterpret_cast<uint64_t*>(block_memory());
    auto* const begins = pointer<uint64_t>(words.begins);
    const uint64_t each = (words.tiles + kBeginThreads - 1) / kBeginThreads, first = thread() * each;
    const uint64_t last = first + each < words.tiles ? first + each : words.tiles;
    uint64_t own = 0;
#pragma unroll 8
    for (uint64_t tile = first; tile < last; ++tile) own += begins[tile];
    const uint64_t before = sum_before(own);
    if (lane() == kWarp - 1) sums[warp()] = before + own;
    barrier();
    uint64_t begin = before;
    for (uint32_t w = 0; w < warp(); ++w) begin += sums[w];
    if (thread() == kBeginThreads - 1) begins[words.tiles] = begin + own;
    for (uint64_t tile = first; tile < last; ++tile) {
        const uint64_t count = begins[tile];
        begins[tile] = begin;
        begin += count;
    }
}

WEFT_GPU_KERNEL(weft_compress_1, CompressArguments, kCompressThreads, 4) { write_values<uint8_t>(words); }
WEFT_GPU_KERNEL(weft_compress_2, CompressArguments, kCompressThreads, 4) { write_values<uint16_t>(words); }
WEFT_GPU_KERNEL(weft_compress_4, CompressArguments, kCompressThreads, 4) { write_values<uint32_t>(words); }
WEFT_GPU_KERNEL(weft_compress_8, CompressArguments, kCompressThreads, 4) { write_values<uint64_t>(words); }
WEFT_GPU_KERNEL(weft_compress_16, CompressArguments, kCompressThreads, 4) { write_values<Wide>(words); }
WEFT_GPU_KERNEL(weft_compress_positions, CompressArguments, kCompressThreads, 4) {
    write_selected<uint64_t>(words, [](uint64_t at) { return at; });
}
