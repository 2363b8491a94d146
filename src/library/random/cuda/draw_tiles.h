// What draws have in common of which each takes as many units of a stream as it happens to (most of them
// one). A tile of units does not know where its first draw begins, but can say for each of the few places
// there are how many numbers it would give and where the next tile's would begin. These tables are joined
// from tile to tile as sums are (decoupled look-back: Merrill and Garland, 2016); then a tile knows its
// place, and writes.
#pragma once

#include <cstdint>

#include "random/stream_steps.h"  // before threads.h: the standard library is not for GPUs

#include "library/gpu/threads.h"
#include "library/random/cuda/draw_streams.h"
#include "library/random/cuda/kernel_arguments.h"

// The name of an entry: WEFT_STREAM says of which stream.
#define WEFT_DRAW_JOIN(a, b) weft_draw_##a##_##b
#define WEFT_DRAW_NAME(a, b) WEFT_DRAW_JOIN(a, b)
#define WEFT_ENTRY(name) WEFT_DRAW_NAME(name, WEFT_STREAM)

namespace weft::gpu {

constexpr uint32_t kWarps = kDrawThreads / kWarp;
constexpr uint32_t kOfWarp = kDrawTile / kWarps;  // units
constexpr uint32_t kMaskRows = kOfWarp / kWarp;   // each of a lane's
static_assert(kMaskRows <= kWarp && kOvershoots == kWarp);

// Streams by the names that entries have.
namespace streams {
template <uint32_t kRows>
using pcg64 = PcgRows<Pcg64, kRows>;
template <uint32_t kRows>
using pcg64dxsm = PcgRows<Pcg64Dxsm, kRows>;
template <uint32_t kRows>
using philox = PhiloxRows<kRows>;
}  // namespace streams

// What a warp's units, or a tile's, do with an overshoot: how many numbers they give, up to 4096, and the
// overshoot behind them.
constexpr uint32_t kOvershootShift = 16, kNumbersMask = (1U << kOvershootShift) - 1;
constexpr uint32_t kTableReady = 1U << 31;
inline uint32_t overshoot_of(uint32_t entry) { return entry >> kOvershootShift & (kOvershoots - 1); }
inline uint32_t entry_of(uint32_t overshoot, uint32_t numbers) {
    return overshoot << kOvershootShift | numbers;
}

// Where a tile's draws begin, as it is published by the tile before.
constexpr uint64_t kBeginReady = uint64_t{1} << 63;
constexpr uint32_t kBeginShift = 56;
struct Begin {
    uint64_t numbers;
    uint32_t overshoot;
};
inline uint64_t published(Begin begin) {
    return kBeginReady | uint64_t{begin.overshoot} << kBeginShift | begin.numbers;
}
inline Begin begin_of(uint64_t published) {
    return {published & ((uint64_t{1} << kBeginShift) - 1),
            static_cast<uint32_t>(published >> kBeginShift) & (kOvershoots - 1)};
}

// Of a block while its tile is joined to those before.
struct JoinMemory {
    uint32_t tables[kWarps][kOvershoots];
    uint32_t before[kWarps][kOvershoots];  // the same of all warps before
    uint64_t begin;                        // of the tile, as published
    uint32_t tile;
};

// Waits for where the tile begins: looks at the tiles before, several at a time, until one is found whose
// end is known, and joins the tables of those between. Of one warp, a lane for each overshoot.
inline Begin find_begin(const DrawArguments& words, uint32_t tile) {
    constexpr uint32_t kTogether = 4;
    const auto* const begins = pointer<const uint64_t>(words.begins);
    const auto* const tables = pointer<const uint32_t>(words.tables);
    uint32_t overshoot = lane();  // what the joined tables make of each
    uint64_t numbers = 0;
    while (true) {
        uint64_t begin[kTogether];
        uint32_t entry[kTogether];
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
            const uint32_t before = tile > k ? tile - k - 1 : 0;
            begin[k] = load_relaxed(&begins[before]);
            entry[k] = load_relaxed(&tables[before * kOvershoots + lane()]);
        }
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
            if (ballot((begin[k] & kBeginReady) != 0) == kAllLanes) {
                const Begin found = begin_of(begin[k]);
                return {found.numbers + from_lane(numbers, found.overshoot),
                        from_lane(overshoot, found.overshoot)};
            }
            // The first tile's end becomes known without a table.
            if (tile == 1 || ballot((entry[k] & kTableReady) != 0) != kAllLanes) break;
            const uint32_t behind = overshoot_of(entry[k]);
            numbers = from_lane(numbers, behind) + (entry[k] & kNumbersMask);
            overshoot = from_lane(overshoot, behind);
            --tile;
        }
    }
}

// Tiles are taken in order, so that whoever is waited for is running.
inline uint32_t next_tile(const DrawArguments& words, JoinMemory& memory) {
    auto* const header = pointer<DrawHeader>(words.header);
    if (thread() == 0) memory.tile = static_cast<uint32_t>(add_to(&header->tickets, uint64_t{1}));
    barrier();
    return memory.tile;
}

// Where the warp's draws begin, whose table is `entry`, one of each lane.
inline Begin join(const DrawArguments& words, JoinMemory& memory, uint32_t tile, uint32_t entry) {
    memory.tables[warp()][lane()] = entry;
    barrier();
    if (warp() == 0) {
        uint32_t joined = entry_of(lane(), 0);
#pragma unroll
        for (uint32_t w = 0; w < kWarps; ++w) {
            memory.before[w][lane()] = joined;
            const uint32_t own = memory.tables[w][overshoot_of(joined)];
            joined = entry_of(overshoot_of(own), (joined & kNumbersMask) + (own & kNumbersMask));
        }
        Begin begin{0, static_cast<uint32_t>(words.skipped)};
        if (tile != 0) {
            publish(&pointer<uint32_t>(words.tables)[tile * kOvershoots + lane()], kTableReady | joined);
            begin = find_begin(words, tile);
        }
        const uint32_t own = from_lane(joined, begin.overshoot);
        if (lane() == 0) {
            publish(&pointer<uint64_t>(words.begins)[tile],
                    published({begin.numbers + (own & kNumbersMask), overshoot_of(own)}));
            memory.begin = published(begin);
        }
    }
    barrier();
    const Begin begin = begin_of(memory.begin);
    const uint32_t before = memory.before[warp()][begin.overshoot];
    return {begin.numbers + (before & kNumbersMask), overshoot_of(before)};
}

// The numbers that a warp writes: its first one's index, and which units give one, 32 of them for each lane.
class Numbers {
public:
    Numbers(const DrawArguments& words, uint64_t first, uint32_t mask)
        : first_(first), mask_(mask), before_(sum_before(count_ones(mask))) {
        const uint32_t all = from_lane(before_ + count_ones(mask), kWarp - 1);
        const uint64_t left = words.count - first;
        has_last_ = left <= all;
        last_ = static_cast<uint32_t>(has_last_ ? left - 1 : all);
    }

    // All lanes take part: the index in the warp of a unit's number.
    uint32_t index_of(uint32_t place) const {
        return from_lane(before_, place / kWarp) +
               count_ones(from_lane(mask_, place / kWarp) & ((1U << place % kWarp) - 1));
    }
    uint64_t first() const { return first_; }
    uint32_t last() const { return last_; }

    // Writes value_of(unit) of each unit that gives a number; gives the end of the last number if the lane
    // wrote it.
    template <class Value, uint32_t kRows, uint32_t kUnits, class Unit, class ValueOf>
    uint32_t write(const DrawArguments& words, const Unit (&units)[kRows][kUnits],
                   const ValueOf& value_of) const {
        Value* const output = pointer<Value>(words.output) + first_;
        uint32_t end = 0;
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row) {
#pragma unroll
            for (uint32_t k = 0; k < kUnits; ++k) {
                const Value value = value_of(units[row][k]);
                const uint32_t place = (row * kWarp + lane()) * kUnits + k;
                const uint32_t own = from_lane(mask_, place / kWarp), index = index_of(place);
                if ((own >> place % kWarp & 1) == 0 || index > last_) continue;
                output[index] = value;
                end = index == last_ ? place + 1 : end;
            }
        }
        return end;
    }

    // The largest of what lanes say is where the draws end, if the last number is among these.
    void tell_end(const DrawArguments& words, uint32_t tile, uint32_t end) const {
        if (!has_last_ || end == 0) return;
        const uint64_t position = (uint64_t{tile} * kWarps + warp()) * kOfWarp;
        raise_to(&pointer<DrawHeader>(words.header)->end, position + end);
    }

private:
    uint64_t first_;
    uint32_t mask_, before_, last_ = 0;
    bool has_last_ = false;
};

}  // namespace weft::gpu
