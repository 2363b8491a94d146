// Draws of which each takes as many units of a stream as it happens to: most of them one (core/ziggurat.h). A
// tile of units does not know where its first draw begins, but can say for each of the few places there are
// how many numbers it would give and where the next tile's would begin. These tables are joined from tile to
// tile as sums are (decoupled look-back: Merrill and Garland, 2016); then a tile knows its place, and writes.
//
// The entries of one program: WEFT_STREAM says which stream's. Each program is small, since the driver
// assembles all of it at the first use of any entry.
#include "core/stream_steps.h"  // before threads.h: the standard library is not for GPUs
#include "library/cuda/draw_words.h"
#include "library/cuda/kernels/draw_methods.h"
#include "library/cuda/kernels/draw_streams.h"
#include "library/cuda/kernels/threads.h"

#define WEFT_JOIN(a, b) weft_draw_##a##_##b
#define WEFT_NAME(a, b) WEFT_JOIN(a, b)
#define WEFT_ENTRY(name) WEFT_NAME(name, WEFT_STREAM)

namespace {

using namespace weft;
using namespace weft::gpu;

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

// Attempts that are other than a number of one unit, or may be: of 512 units some 8 or 11.
constexpr uint32_t kMostItems = 64;
// An item: where it is in its warp's units, how many it takes, and what it gives.
constexpr uint32_t kPlaceMask = kOfWarp - 1, kUnitsShift = 16, kGives = 1U << 30, kIsTail = 1U << 31;
constexpr uint32_t kMostTurns = 12;  // of the tail's loop
static_assert(1 + 2 * kMostTurns < kOvershoots);

uint32_t place_of(uint32_t item) { return item & kPlaceMask; }
uint32_t units_of(uint32_t item) { return item >> kUnitsShift & 0xff; }
uint32_t numbers_of(uint32_t item) { return (item & kGives) != 0 ? 1 : 0; }

// What a warp's units, or a tile's, do with an overshoot: how many numbers they give, up to 4096, and the
// overshoot behind them.
constexpr uint32_t kOvershootShift = 16, kNumbersMask = (1U << kOvershootShift) - 1;
constexpr uint32_t kTableReady = 1U << 31;
uint32_t overshoot_of(uint32_t entry) { return entry >> kOvershootShift & (kOvershoots - 1); }
uint32_t entry_of(uint32_t overshoot, uint32_t numbers) { return overshoot << kOvershootShift | numbers; }

// Where a tile's draws begin, as it is published by the tile before.
constexpr uint64_t kBeginReady = uint64_t{1} << 63;
constexpr uint32_t kBeginShift = 56;
struct Begin {
    uint64_t numbers;
    uint32_t overshoot;
};
uint64_t published(Begin begin) {
    return kBeginReady | uint64_t{begin.overshoot} << kBeginShift | begin.numbers;
}
Begin begin_of(uint64_t published) {
    return {published & ((uint64_t{1} << kBeginShift) - 1),
            static_cast<uint32_t>(published >> kBeginShift) & (kOvershoots - 1)};
}

template <class Method, class Rows>
struct DrawMemory {
    typename Method::Value factors[256];
    uint32_t near[256];
    struct Items {
        typename Rows::Kept kept[kMostItems];
        typename Method::Unit distance[kMostItems];  // of those in the tail
        uint32_t items[kMostItems];
    } items[kWarps];
    typename Rows::Memory stream;
    uint32_t tables[kWarps][kOvershoots];
    uint32_t before[kWarps][kOvershoots];  // the same of all warps before
    uint64_t begin;                        // of the tile, as published
    uint32_t tile;
};

// Units from a place in a stream of words on.
template <class Place, class Unit>
class Units {
public:
    Units(Place place, uint32_t position) : place_(place), upper_(position % 2 != 0) {}
    Unit unit() const {
        if constexpr (sizeof(Unit) == sizeof(uint64_t)) {
            return place_.word();
        } else {
            return static_cast<Unit>(place_.word() >> (upper_ ? 32 : 0));
        }
    }
    Unit next() {
        if constexpr (sizeof(Unit) == sizeof(uint64_t)) {
            place_.next();
        } else {
            if (upper_) place_.next();
            upper_ = !upper_;
        }
        return unit();
    }

private:
    Place place_;
    bool upper_;
};

// What an attempt does that begins at `place`; false if that is not sure.
template <class Method, class Place>
bool decide(Units<Place, typename Method::Unit> units, uint32_t place, uint32_t& item,
            typename Method::Unit& distance) {
    using Unit = typename Method::Unit;
    const auto& table = Method::table();
    const Unit first = units.unit();
    const uint32_t layer = Method::layer(first);
    if (Method::magnitude(first) < table.thresholds[layer]) {
        item = place | 1U << kUnitsShift | kGives;
        return true;
    }
    const Unit second = units.next();
    if (layer != 0) {
        const auto step = table.heights[layer - 1] - table.heights[layer];
        const auto height = step * unit_interval(second) + table.heights[layer];
        const Decision below = Method::is_below_density(height, Method::value(first, table.factors[layer]));
        item = place | 2U << kUnitsShift | (below.yes ? kGives : 0);
        return below.sure;
    }
    const Unit sign = Method::is_negative(first) ? 1 : 0;
    item = place | 2U << kUnitsShift | kGives | kIsTail;
    distance = (second & ~Unit{1}) | sign;
    if constexpr (Method::kTailLoops) {
        for (uint32_t turn = 1; turn <= kMostTurns; ++turn) {
            const Decision ends = Method::ends_tail(static_cast<Unit>(distance & ~Unit{1}), units.next());
            if (!ends.sure) return false;
            if (ends.yes) {
                item = place | (1 + 2 * turn) << kUnitsShift | kGives | kIsTail;
                return true;
            }
            distance = (units.next() & ~Unit{1}) | sign;
        }
        return false;
    }
    return true;
}

// Waits for where the tile begins: looks at the tiles before, several at a time, until one is found whose
// end is known, and joins the tables of those between. Of one warp, a lane for each overshoot.
Begin find_begin(const DrawWords& words, uint32_t tile) {
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
            begin[k] = look_at(&begins[before]);
            entry[k] = look_at(&tables[before * kOvershoots + lane()]);
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

template <class Method, template <uint32_t> class Stream>
void draw(const DrawWords& words) {
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;
    constexpr uint32_t kUnits = sizeof(uint64_t) / sizeof(Unit);  // of a word
    constexpr uint32_t kRows = kMaskRows / kUnits;
    using Rows = Stream<kRows>;
    using Memory = DrawMemory<Method, Rows>;
    static_assert(sizeof(Memory) <= kDrawMemoryBytes);
    auto& memory = *reinterpret_cast<Memory*>(block_memory());
    auto* const header = pointer<DrawHeader>(words.header);

    if (thread() == 0) memory.tile = static_cast<uint32_t>(add_to(&header->tickets, uint64_t{1}));
    memory.near[thread()] = Method::table().near[thread()];
    memory.factors[thread()] = Method::table().factors[thread()];
    barrier();
    const uint32_t tile = memory.tile;

    // Numbers as if each unit were one, and a list of those that may not be.
    Value values[kRows][kUnits];
    auto& listed = memory.items[warp()];
    uint32_t items = 0;
    Rows rows(words, tile, memory.stream);
    rows.each([&](uint32_t row, uint64_t word, const typename Rows::Kept& kept) {
        uint32_t odd[kUnits];
#pragma unroll
        for (uint32_t k = 0; k < kUnits; ++k) {
            const auto unit = static_cast<Unit>(word >> (k * 32));
            const uint32_t layer = Method::layer(unit);
            values[row][k] = computed(Method::value(unit, memory.factors[layer]));
            odd[k] = ballot(Method::near(unit) >= memory.near[layer]);
        }
        uint32_t place = items;
#pragma unroll
        for (uint32_t k = 0; k < kUnits; ++k) {
            place += count_ones(odd[k] & lanes_before());
            items += count_ones(odd[k]);
        }
#pragma unroll
        for (uint32_t k = 0; k < kUnits; ++k) {
            if ((odd[k] >> lane() & 1) == 0) continue;
            if (place < kMostItems) {
                listed.items[place] = (row * kWarp + lane()) * kUnits + k;
                listed.kept[place] = kept;
            }
            ++place;
        }
    });
    bool sure = items <= kMostItems;
    items = sure ? items : kMostItems;
    warp_barrier();
    for (uint32_t k = lane(); k < items; k += kWarp) {
        const uint32_t place = listed.items[k];
        uint32_t item = 0;
        Unit distance = 0;
        const Units<typename Rows::Place, Unit> units(rows.from(listed.kept[k], place / kUnits), place);
        if (!decide<Method>(units, place, item, distance)) sure = false;
        listed.items[k] = item;
        listed.distance[k] = distance;
    }
    if (!sure) publish(&header->failed, uint64_t{1});
    warp_barrier();

    // The table of the warp: a lane follows the draws from its overshoot on.
    {
        uint32_t at = lane(), numbers = 0;
        for (uint32_t k = 0; k < items; ++k) {
            const uint32_t item = listed.items[k], place = place_of(item);
            if (place < at) continue;
            numbers += place - at + numbers_of(item);
            at = place + units_of(item);
        }
        if (at < kOfWarp) {
            numbers += kOfWarp - at;
            at = kOfWarp;
        }
        memory.tables[warp()][lane()] = entry_of(at - kOfWarp, numbers);
    }
    barrier();
    if (warp() == 0) {
        uint32_t joined = entry_of(lane(), 0);
#pragma unroll
        for (uint32_t w = 0; w < kWarps; ++w) {
            memory.before[w][lane()] = joined;
            const uint32_t entry = memory.tables[w][overshoot_of(joined)];
            joined = entry_of(overshoot_of(entry), (joined & kNumbersMask) + (entry & kNumbersMask));
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

    const Begin tile_begin = begin_of(memory.begin);
    const uint32_t before_warp = memory.before[warp()][tile_begin.overshoot];
    const uint64_t first = tile_begin.numbers + (before_warp & kNumbersMask);
    if (first >= words.count) return;

    // Which units give a number, 32 of them for each lane.
    uint32_t at = overshoot_of(before_warp);
    uint32_t mask = lane() >= kMaskRows ? 0 : lane() == 0 ? kAllLanes << at : kAllLanes;
    uint64_t begun = 0;  // of the items, those that a draw begins with
    for (uint32_t k = 0; k < items; ++k) {
        const uint32_t item = listed.items[k], place = place_of(item);
        if (place < at) continue;
        begun |= uint64_t{1} << k;
        at = place + units_of(item);
        const uint64_t nothing = ((uint64_t{1} << units_of(item)) - 1 - numbers_of(item)) << place % kWarp;
        if (lane() == place / kWarp) mask &= ~static_cast<uint32_t>(nothing);
        if (lane() == place / kWarp + 1) mask &= ~static_cast<uint32_t>(nothing >> kWarp);
    }
    const uint32_t before = sum_before(count_ones(mask));
    const uint32_t numbers = from_lane(before + count_ones(mask), kWarp - 1);
    const uint64_t left = words.count - first;
    const bool is_last = left <= numbers;  // if the last number is among these
    const auto last = static_cast<uint32_t>(is_last ? left - 1 : numbers);
    const uint64_t position = (uint64_t{tile} * kWarps + warp()) * kOfWarp;
    Value* const output = pointer<Value>(words.output) + first;
    uint32_t end = 0;  // of the last number
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
#pragma unroll
        for (uint32_t k = 0; k < kUnits; ++k) {
            const uint32_t place = (row * kWarp + lane()) * kUnits + k;
            const uint32_t own = from_lane(mask, place / kWarp);
            const uint32_t index =
                from_lane(before, place / kWarp) + count_ones(own & ((1U << place % kWarp) - 1));
            if ((own >> place % kWarp & 1) == 0 || index > last) continue;
            output[index] = values[row][k];
            end = index == last ? place + 1 : end;
        }
    }
    for (uint32_t base = 0; base < items; base += kWarp) {
        const uint32_t k = base + lane();
        const uint32_t item = k < items ? listed.items[k] : 0, place = place_of(item);
        const uint32_t index = from_lane(before, place / kWarp) +
                               count_ones(from_lane(mask, place / kWarp) & ((1U << place % kWarp) - 1));
        if (k >= items || (begun >> k & 1) == 0 || numbers_of(item) == 0 || index > last) continue;
        end = index == last ? place + units_of(item) : end;
        if ((item & kIsTail) == 0) continue;
        const uint64_t tail = add_to(&header->tails, uint64_t{1});
        if (tail < words.most_tails)
            pointer<DrawTail>(words.tails)[tail] = {first + index, uint64_t{listed.distance[k]}};
    }
    // Of two lanes the one that knows how many units it takes is further.
    if (is_last && end != 0) raise_to(&header->end, position + end);
}

template <class Value>
void place(const DrawPlaceWords& words) {
    const uint64_t k = uint64_t{block()} * kDrawThreads + thread();
    if (k >= words.count) return;
    pointer<Value>(words.output)[pointer<const DrawTail>(words.tails)[k].index] =
        pointer<const Value>(words.values)[k];
}

}  // namespace

WEFT_GPU_KERNEL(WEFT_ENTRY(normal_64), DrawWords, kDrawThreads, 3) {
    draw<Normal, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(normal_32), DrawWords, kDrawThreads, 3) {
    draw<Normal32, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(exponential_64), DrawWords, kDrawThreads, 3) {
    draw<Exponential, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(exponential_32), DrawWords, kDrawThreads, 3) {
    draw<Exponential32, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(place_64), DrawPlaceWords, kDrawThreads, 4) { place<double>(words); }
WEFT_GPU_KERNEL(WEFT_ENTRY(place_32), DrawPlaceWords, kDrawThreads, 4) { place<float>(words); }
