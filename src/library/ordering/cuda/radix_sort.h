// Radix sort by the least digit first, one read and one write of everything a digit ("onesweep": Adinets and
// Merrill, 2022): a first kernel counts all digits at once; then each tile of a row ranks its elements by a
// digit and learns where its digits go from the tiles before it, which publish what they have (decoupled
// look-back: Merrill and Garland, 2016). Tiles are taken in order, so that whoever is waited for is running.
// Equal elements keep their order. Digits that all keys share are left out.
#pragma once

#include "library/gpu/threads.h"
#include "library/ordering/cuda/kernel_arguments.h"
#include "library/ordering/cuda/order_keys.h"

namespace weft::gpu {

// What a pass does, of those that are left: `from` and `to` are 0 and 1 for the memory between passes.
struct Pass {
    bool skipped, first, last;
    uint32_t to;  // from: the other one
};

template <class Key>
Pass pass_of(const SortArguments& words, uint32_t number) {
    constexpr uint32_t kPasses = sizeof(Key);
    const auto* scratch = pointer<const SortScratch>(words.scratch);
    const uint64_t differs = scratch->all & scratch->any;
    uint32_t before = 0, after = 0;
    bool own = false;
    for (uint32_t p = 0; p < kPasses; ++p) {
        // Where no digit differs, the last one is as good as any.
        const bool runs = (differs >> (8 * p) & 0xff) != 0 || (differs == 0 && p == kPasses - 1);
        if (p < number) before += runs;
        if (p == number) own = runs;
        if (p > number) after += runs;
    }
    return {!own, before == 0, after == 0, after % 2};
}

// Arguments cannot be indexed; a choice between two of them would become that.
inline uint64_t one_of(const uint64_t (&addresses)[2], uint32_t which) {
    return addresses[0] ^ ((addresses[0] ^ addresses[1]) & (0 - uint64_t{which}));
}

template <class Key>
uint32_t digit_of(Key key, uint32_t pass) {
    return static_cast<uint32_t>(key >> (8 * pass)) & (kDigits - 1);
}

// ---- counting ----

template <class Key, bool kPairs>
void count_digits(const SortArguments& words) {
    constexpr uint32_t kPasses = sizeof(Key);
    auto* const counts = reinterpret_cast<uint32_t*>(block_memory());
    for (uint32_t i = thread(); i < kPasses * kDigits; i += kCountThreads) counts[i] = 0;
    barrier();
    const uint64_t pieces = blocks() / words.rows, row = block() / pieces, piece = block() % pieces;
    const uint64_t step = (words.length + pieces - 1) / pieces;
    const uint64_t begin = piece * step, end = begin + step < words.length ? begin + step : words.length;
    const Key* const from = pointer<const Key>(words.input) + row * words.length;
    const KeyRule<Key, kPairs> rule(words.kind, words.infinity);
    uint64_t any = 0, all = 0;
    for (uint64_t base = begin + thread(); base < end; base += kCountThreads * kCountItems) {
        Key keys[kCountItems];
#pragma unroll
        for (uint32_t i = 0; i < kCountItems; ++i) {
            const uint64_t at = base + i * kCountThreads;
            if (at < end) keys[i] = from[at];
        }
#pragma unroll
        for (uint32_t i = 0; i < kCountItems; ++i) {
            if (base + i * kCountThreads >= end) break;
            const Key key = rule.key(keys[i]);
            any |= key;
            all |= static_cast<Key>(~key);
#pragma unroll
            for (uint32_t p = 0; p < kPasses; ++p)
                add_to(&counts[p * kDigits + digit_of(key, p)], uint32_t{1});
        }
    }
    auto* const scratch = pointer<SortScratch>(words.scratch);
#pragma unroll
    for (uint32_t distance = kWarp / 2; distance > 0; distance /= 2) {
        any |= from_lane(any, lane() ^ distance);
        all |= from_lane(all, lane() ^ distance);
    }
    if (lane() == 0) {
        __atomic_fetch_or(&scratch->any, any, __ATOMIC_RELAXED);
        __atomic_fetch_or(&scratch->all, all, __ATOMIC_RELAXED);
    }
    barrier();
    auto* const totals = pointer<uint32_t>(words.counts) + row * kPasses * kDigits;
    for (uint32_t i = thread(); i < kPasses * kDigits; i += kCountThreads) {
        if (counts[i] != 0) add_to(&totals[i], counts[i]);
    }
}

// The sum of what the threads before have, of kDigits of them; in `sums` is room for a number a warp.
inline uint32_t sum_of_threads_before(uint32_t value, uint32_t* sums) {
    const uint32_t before = sum_before(value);
    if (thread() < kDigits && lane() == kWarp - 1) sums[warp()] = before + value;
    barrier();
    uint32_t sum = before;
    if (thread() < kDigits) {
        for (uint32_t w = 0; w < warp(); ++w) sum += sums[w];
    }
    return sum;
}

// From counts to where each digit begins, a block for each row and pass.
inline void begin_digits(const SortArguments& words) {
    auto* const counts = pointer<uint32_t>(words.counts) + uint64_t{block()} * kDigits;
    const uint32_t count = counts[thread()];
    counts[thread()] = sum_of_threads_before(count, reinterpret_cast<uint32_t*>(block_memory()));
}

// ---- ranking a tile ----

// A tile's elements by warps, which have neighbouring ones: element i of a lane is at
// (warp * kItems + i) * 32 + lane.
template <uint32_t kItems>
uint32_t place_in_tile(uint32_t item) {
    return (warp() * kItems + item) * kWarp + lane();
}

// Memory of a block while it ranks: for each warp how many elements it has of each digit, then where its
// first element of that digit goes in the tile.
template <uint32_t kThreads>
struct RankMemory {
    uint32_t of_warp[kThreads / kWarp][kDigits];
    uint32_t begin[kDigits];  // where each digit begins in the tile
    uint32_t sums[kWarp];
};

// How many elements of the tile have digit thread(), for the first kDigits threads.
template <uint32_t kThreads, uint32_t kItems, class Key>
uint32_t count_tile(const Key (&keys)[kItems], uint32_t pass, RankMemory<kThreads>& memory) {
    constexpr uint32_t kWarps = kThreads / kWarp;
    uint32_t* const own = memory.of_warp[warp()];
#pragma unroll
    for (uint32_t d = 0; d < kDigits; d += kWarp) own[d + lane()] = 0;
    warp_barrier();
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) add_to(&own[digit_of(keys[i], pass)], uint32_t{1});
    barrier();
    uint32_t count = 0;
    if (thread() < kDigits) {
#pragma unroll
        for (uint32_t w = 0; w < kWarps; ++w) {
            const uint32_t here = memory.of_warp[w][thread()];
            memory.of_warp[w][thread()] = count;
            count += here;
        }
    }
    return count;
}

// Where each element goes in the tile; `count` is what count_tile gave. What takes the time is shared memory:
// an element costs an addition there to be counted, a load and a store to be ranked, a store and a load to be
// exchanged.
template <uint32_t kThreads, uint32_t kItems, class Key>
void rank_tile(const Key (&keys)[kItems], uint32_t pass, uint32_t count, RankMemory<kThreads>& memory,
               uint32_t (&ranks)[kItems]) {
    constexpr uint32_t kWarps = kThreads / kWarp;
    const uint32_t begin = sum_of_threads_before(count, memory.sums);
    if (thread() < kDigits) {
        memory.begin[thread()] = begin;
#pragma unroll
        for (uint32_t w = 0; w < kWarps; ++w) memory.of_warp[w][thread()] += begin;
    }
    barrier();
    uint32_t* const own = memory.of_warp[warp()];
    pass = forgotten(pass);
    const uint32_t lanes_before_own = lanes_before();
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
        const uint32_t digit = digit_of(keys[i], pass), same = lanes_with<8>(digit);
        const uint32_t before = count_ones(same & lanes_before_own), first = own[digit];
        warp_barrier();
        if (before == 0) own[digit] = first + count_ones(same);
        warp_barrier();
        ranks[i] = first + before;
    }
}

// ---- one pass over rows of many tiles ----

// What a tile publishes of a digit: nothing yet, its own count, or the count with those of all tiles before.
constexpr uint32_t kOwnCount = 1U << 30, kWholeCount = 2U << 30, kCountMask = kOwnCount - 1;

// What the tiles before `tile` have of a digit; `own` is where that tile publishes it. Several tiles are
// looked at together: one after another they would be further behind than new tiles come.
inline uint32_t count_before(const uint32_t* own, uint32_t tile) {
    constexpr uint32_t kTogether = 8;
    uint32_t before = 0;
    while (tile != 0) {
        uint32_t seen[kTogether];
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k)
            seen[k] = k < tile ? load_relaxed(own - (k + 1) * kDigits) : kWholeCount;
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
            while (seen[k] == 0) seen[k] = load_relaxed(own - (k + 1) * kDigits);
            before += seen[k] & kCountMask;
            if ((seen[k] & kWholeCount) != 0) return before;
        }
        own -= kTogether * kDigits;
        tile -= kTogether;
    }
    return before;
}

template <class Key, bool kPairs, uint32_t kThreads, uint32_t kItems>
struct PassMemory {
    RankMemory<kThreads> rank;
    uint32_t target[kDigits];  // where a digit's elements go in the row, less where it begins in the tile
    uint32_t tile;
    union {  // one after another
        alignas(16) Key keys[kThreads * kItems];
        uint32_t positions[kPairs ? kThreads * kItems : 1];
    };
};

// Sorts by one digit. With kPairs, positions go with the keys, and the last pass writes them as int64.
template <class Key, bool kPairs, uint32_t kThreads, uint32_t kItems>
void sort_by_digit(const SortArguments& words) {
    constexpr uint32_t kTile = kThreads * kItems, kPasses = sizeof(Key);
    using Memory = PassMemory<Key, kPairs, kThreads, kItems>;
    static_assert(sizeof(Memory) <= pass_memory_bytes(sizeof(Key), kPairs));
    auto& memory = *reinterpret_cast<Memory*>(block_memory());
    const auto number = static_cast<uint32_t>(words.pass);
    if (thread() == 0)
        memory.tile = add_to(&pointer<SortScratch>(words.scratch)->tickets[number], uint32_t{1});
    const Pass pass = pass_of<Key>(words, number);
    if (pass.skipped) return;
    barrier();
    const uint32_t ticket = memory.tile, row = ticket / static_cast<uint32_t>(words.tiles),
                   tile = ticket % static_cast<uint32_t>(words.tiles);
    const KeyRule<Key, kPairs> rule(words.kind, words.infinity);
    const uint64_t row_begin = row * words.length, begin = uint64_t{tile} * kTile;
    const uint32_t size = words.length - begin < kTile ? static_cast<uint32_t>(words.length - begin) : kTile;

    Key keys[kItems];
    const Key* const from =
        pointer<const Key>(pass.first ? words.input : one_of(words.keys, 1 - pass.to)) + row_begin + begin;
    if (size == kTile) {
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) keys[i] = from[place_in_tile<kItems>(i)];
    } else {
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) {
            const uint32_t at = place_in_tile<kItems>(i);
            keys[i] = at < size ? from[at] : Key{0};
        }
    }
    if (pass.first) {
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) keys[i] = rule.key(keys[i]);
    }
    if (size != kTile) {  // what is not there comes last, and is not written
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) {
            if (place_in_tile<kItems>(i) >= size) keys[i] = kLastKey<Key>;
        }
    }

    const uint32_t with_padding = count_tile<kThreads>(keys, number, memory.rank);
    const uint32_t count = thread() == kDigits - 1 ? with_padding - (kTile - size) : with_padding;
    auto* const published = pointer<uint32_t>(words.published) +
                            ((uint64_t{number} * words.rows + row) * words.tiles + tile) * kDigits + thread();
    if (thread() < kDigits) publish(published, (tile == 0 ? kWholeCount : kOwnCount) | count);

    uint32_t ranks[kItems];
    rank_tile<kThreads>(keys, number, with_padding, memory.rank, ranks);
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) memory.keys[ranks[i]] = keys[i];

    if (thread() < kDigits) {
        const uint32_t before = count_before(published, tile);
        if (tile != 0) publish(published, kWholeCount | (before + count));
        const uint32_t digit_begin =
            pointer<const uint32_t>(words.counts)[(uint64_t{row} * kPasses + number) * kDigits + thread()];
        memory.target[thread()] = digit_begin + before - memory.rank.begin[thread()];
    }
    barrier();

    uint32_t targets[kItems];
    Key* const to = pointer<Key>(pass.last ? words.output : one_of(words.keys, pass.to)) + row_begin;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
        const uint32_t at = i * kThreads + thread();
        const Key key = memory.keys[at];
        targets[i] = memory.target[digit_of(key, number)] + at;
        if (at >= size) continue;
        if (!pass.last) {
            to[targets[i]] = key;
        } else if constexpr (!kPairs) {
            to[targets[i]] = rule.element(key);
        }
    }
    if constexpr (kPairs) {
        uint32_t* const positions = memory.positions;
        barrier();
        if (pass.first) {
#pragma unroll
            for (uint32_t i = 0; i < kItems; ++i)
                positions[ranks[i]] = static_cast<uint32_t>(begin) + place_in_tile<kItems>(i);
        } else {
            const auto* const old =
                pointer<const uint32_t>(one_of(words.positions, 1 - pass.to)) + row_begin + begin;
#pragma unroll
            for (uint32_t i = 0; i < kItems; ++i) {
                const uint32_t at = place_in_tile<kItems>(i);
                positions[ranks[i]] = at < size ? old[at] : 0;
            }
        }
        barrier();
        auto* const wide = pointer<int64_t>(words.output) + row_begin;
        auto* const narrow = pointer<uint32_t>(one_of(words.positions, pass.to)) + row_begin;
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) {
            const uint32_t at = i * kThreads + thread();
            if (at >= size) continue;
            if (pass.last) {
                wide[targets[i]] = positions[at];
            } else {
                narrow[targets[i]] = positions[at];
            }
        }
    }
}

// ---- rows of one tile ----

template <class Key, bool kPairs, uint32_t kThreads, uint32_t kItems>
struct RowMemory {
    RankMemory<kThreads> rank;
    uint64_t bits[2];
    alignas(16) Key keys[kThreads * kItems];
    uint16_t positions[kPairs ? kThreads * kItems : 1];
};

// The bits that not all of the first `size` keys of a block have; `memory` for two numbers.
template <uint32_t kItems, class Key>
uint64_t differing_bits(const Key (&keys)[kItems], uint32_t size, uint64_t* memory) {
    if (thread() < 2) memory[thread()] = 0;
    uint64_t any = 0, all = 0;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
        if (place_in_tile<kItems>(i) >= size) continue;
        any |= keys[i];
        all |= static_cast<Key>(~keys[i]);
    }
    barrier();
    __atomic_fetch_or(&memory[0], any, __ATOMIC_RELAXED);
    __atomic_fetch_or(&memory[1], all, __ATOMIC_RELAXED);
    barrier();
    return memory[0] & memory[1];
}

// A block sorts a row, without other memory than its own.
template <class Key, bool kPairs, uint32_t kThreads, uint32_t kItems>
void sort_row(const SortArguments& words) {
    constexpr uint32_t kTile = kThreads * kItems, kPasses = sizeof(Key);
    static_assert(kTile <= 1U << 16);
    using Memory = RowMemory<Key, kPairs, kThreads, kItems>;
    static_assert(sizeof(Memory) <= row_memory_bytes(sizeof(Key), kPairs, kItems));
    auto& memory = *reinterpret_cast<Memory*>(block_memory());
    const auto size = static_cast<uint32_t>(words.length);
    const KeyRule<Key, kPairs> rule(words.kind, words.infinity);
    for (uint64_t row = block(); row < words.rows; row += blocks()) {
        const Key* const from = pointer<const Key>(words.input) + row * words.length;
        Key keys[kItems];
        uint16_t positions[kItems];
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) {
            const uint32_t at = place_in_tile<kItems>(i);
            keys[i] = at < size ? rule.key(from[at]) : kLastKey<Key>;
            positions[i] = static_cast<uint16_t>(at);
        }
        const uint64_t differs = differing_bits<kItems>(keys, size, memory.bits);
        for (uint32_t pass = 0; pass < kPasses; ++pass) {
            if ((differs >> (8 * pass) & 0xff) == 0) continue;  // all elements have this digit
            uint32_t ranks[kItems];
            const uint32_t count = count_tile<kThreads>(keys, pass, memory.rank);
            rank_tile<kThreads>(keys, pass, count, memory.rank, ranks);
#pragma unroll
            for (uint32_t i = 0; i < kItems; ++i) {
                memory.keys[ranks[i]] = keys[i];
                if constexpr (kPairs) memory.positions[ranks[i]] = positions[i];
            }
            barrier();
#pragma unroll
            for (uint32_t i = 0; i < kItems; ++i) {
                const uint32_t at = place_in_tile<kItems>(i);
                keys[i] = memory.keys[at];
                if constexpr (kPairs) positions[i] = memory.positions[at];
            }
            barrier();
        }
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) {
            const uint32_t at = place_in_tile<kItems>(i);
            if (at >= size) continue;
            if constexpr (kPairs) {
                pointer<int64_t>(words.output)[row * words.length + at] = positions[i];
            } else {
                pointer<Key>(words.output)[row * words.length + at] = rule.element(keys[i]);
            }
        }
    }
}

// What lanes tell each other has 32 or 64 bits.
template <bool wide>
struct ExchangedKey {
    using Type = uint32_t;
};
template <>
struct ExchangedKey<true> {
    using Type = uint64_t;
};

// Rows of up to 32 elements for each of a lane's, a warp for each row: a network that compares elements of
// lanes. Element i of a lane is number 32 i + lane. What is not there is like the last key, behind those that
// are.
template <class Key, bool kPairs, uint32_t kItems>
void sort_short_row(const SortArguments& words) {
    const auto size = static_cast<uint32_t>(words.length);
    const KeyRule<Key, kPairs> rule(words.kind, words.infinity);
    using Exchanged = typename ExchangedKey<sizeof(Key) == 8>::Type;
    const uint64_t warps = threads() / kWarp, all = uint64_t{blocks()} * warps;
    for (uint64_t row = block() * warps + warp(); row < words.rows; row += all) {
        const Key* const from = pointer<const Key>(words.input) + row * words.length;
        Exchanged keys[kItems];
        uint32_t positions[kItems];
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) {
            positions[i] = i * kWarp + lane();
            keys[i] = positions[i] < size ? rule.key(from[positions[i]]) : kLastKey<Key>;
        }
#pragma unroll
        for (uint32_t run = 2; run <= kItems * kWarp; run *= 2) {
#pragma unroll
            for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
                Exchanged other_keys[kItems];
                uint32_t other_positions[kItems];
#pragma unroll
                for (uint32_t i = 0; i < kItems; ++i) {
                    const uint32_t other = i ^ (distance / kWarp);
                    if (distance >= kWarp) {
                        other_keys[i] = keys[other];
                        other_positions[i] = positions[other];
                    } else {
                        other_keys[i] = from_lane(keys[i], lane() ^ distance);
                        other_positions[i] = kPairs ? from_lane(positions[i], lane() ^ distance) : 0;
                    }
                }
#pragma unroll
                for (uint32_t i = 0; i < kItems; ++i) {
                    const uint32_t own = i * kWarp + lane();
                    const bool wants_less = ((own & run) == 0) == ((own & distance) == 0);
                    bool other_less = other_keys[i] < keys[i];
                    if constexpr (kPairs)
                        other_less |= other_keys[i] == keys[i] && other_positions[i] < positions[i];
                    if (other_less == wants_less) {
                        keys[i] = other_keys[i];
                        positions[i] = other_positions[i];
                    }
                }
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < kItems; ++i) {
            const uint32_t at = i * kWarp + lane();
            if (at >= size) continue;
            if constexpr (kPairs) {
                pointer<int64_t>(words.output)[row * words.length + at] = positions[i];
            } else {
                pointer<Key>(words.output)[row * words.length + at] = rule.element(static_cast<Key>(keys[i]));
            }
        }
    }
}

}  // namespace weft::gpu
