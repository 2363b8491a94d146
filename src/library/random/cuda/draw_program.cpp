// Normal and exponential numbers, by ziggurats (random/ziggurat.h): a program for each stream, since the
// driver assembles all of a program at the first use of any entry.
#include "library/random/cuda/draw_tiles.h"

#include "library/random/cuda/draw_methods.h"

namespace {

using namespace weft;
using namespace weft::gpu;

// Attempts that are other than a number of one unit, or may be: of 512 units some 8 or 11.
constexpr uint32_t kMostItems = 64;
// An item: where it is in its warp's units, how many it takes, and what it gives.
constexpr uint32_t kPlaceMask = kOfWarp - 1, kUnitsShift = 16, kGives = 1U << 30, kIsTail = 1U << 31;
constexpr uint32_t kMostIterations = 12;  // of the tail's loop
static_assert(1 + 2 * kMostIterations < kOvershoots);

uint32_t place_of(uint32_t item) { return item & kPlaceMask; }
uint32_t units_of(uint32_t item) { return item >> kUnitsShift & 0xff; }
uint32_t numbers_of(uint32_t item) { return (item & kGives) != 0 ? 1 : 0; }

template <class Method, class Rows>
struct ZigguratMemory {
    typename Method::Value factors[256];
    uint32_t near[256];
    struct Items {
        typename Rows::Kept kept[kMostItems];
        typename Method::Unit distance[kMostItems];  // of those in the tail
        uint32_t items[kMostItems];
    } items[kWarps];
    typename Rows::Memory stream;
    JoinMemory join;
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
        for (uint32_t turn = 1; turn <= kMostIterations; ++turn) {
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

template <class Method, template <uint32_t> class Stream>
void draw(const DrawArguments& words) {
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;
    constexpr uint32_t kUnits = sizeof(uint64_t) / sizeof(Unit);  // of a word
    constexpr uint32_t kRows = kMaskRows / kUnits;
    using Rows = Stream<kRows>;
    using Memory = ZigguratMemory<Method, Rows>;
    static_assert(sizeof(Memory) <= kDrawMemoryBytes);
    auto& memory = *reinterpret_cast<Memory*>(block_memory());
    memory.near[thread()] = Method::table().near[thread()];
    memory.factors[thread()] = Method::table().factors[thread()];
    const uint32_t tile = next_tile(words, memory.join);

    // Units, and a list of those that may be no numbers of their own.
    Unit units_of_rows[kRows][kUnits];
    auto& listed = memory.items[warp()];
    uint32_t items = 0;
    Rows rows(words, tile, memory.stream);
    rows.each([&](uint32_t row, uint64_t word, const typename Rows::Kept& kept) {
        uint32_t odd[kUnits];
#pragma unroll
        for (uint32_t k = 0; k < kUnits; ++k) {
            const auto unit = static_cast<Unit>(word >> (k * 32));
            const uint32_t layer = Method::layer(unit);
            units_of_rows[row][k] = unit;
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
    auto* const header = pointer<DrawHeader>(words.header);
    if (!sure) publish(&header->failed, uint64_t{1});
    warp_barrier();

    // The table of the warp: a lane follows the draws from its overshoot on.
    uint32_t at = lane(), numbers_of_warp = 0;
    for (uint32_t k = 0; k < items; ++k) {
        const uint32_t item = listed.items[k], place = place_of(item);
        if (place < at) continue;
        numbers_of_warp += place - at + numbers_of(item);
        at = place + units_of(item);
    }
    if (at < kOfWarp) {
        numbers_of_warp += kOfWarp - at;
        at = kOfWarp;
    }
    const Begin begin = join(words, memory.join, tile, entry_of(at - kOfWarp, numbers_of_warp));
    if (begin.numbers >= words.count) return;

    at = begin.overshoot;
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
    const Numbers numbers(words, begin.numbers, mask);
    uint32_t end = numbers.write<Value>(words, units_of_rows, [&](Unit unit) {
        return Method::value(unit, memory.factors[Method::layer(unit)]);
    });
    for (uint32_t base = 0; base < items; base += kWarp) {
        const uint32_t k = base + lane();
        const uint32_t item = k < items ? listed.items[k] : 0, place = place_of(item);
        const uint32_t index = numbers.index_of(place);
        if (k >= items || (begun >> k & 1) == 0 || numbers_of(item) == 0 || index > numbers.last()) continue;
        // The lane that wrote it knows of one unit only.
        end = index == numbers.last() ? place + units_of(item) : end;
        if ((item & kIsTail) == 0) continue;
        const uint64_t tail = add_to(&header->tails, uint64_t{1});
        if (tail < words.most_tails)
            pointer<DrawTail>(words.tails)[tail] = {numbers.first() + index, uint64_t{listed.distance[k]}};
    }
    numbers.tell_end(words, tile, end);
}

template <class Value>
void place(const DrawPlaceArguments& words) {
    const uint64_t k = uint64_t{block()} * kDrawThreads + thread();
    if (k >= words.count) return;
    pointer<Value>(words.output)[pointer<const DrawTail>(words.tails)[k].index] =
        pointer<const Value>(words.values)[k];
}

}  // namespace

WEFT_GPU_KERNEL(WEFT_ENTRY(normal_64_64), DrawArguments, kDrawThreads, 3) {
    draw<Normal, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(normal_32_32), DrawArguments, kDrawThreads, 3) {
    draw<Normal32, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(exponential_64_64), DrawArguments, kDrawThreads, 3) {
    draw<Exponential, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(exponential_32_32), DrawArguments, kDrawThreads, 3) {
    draw<Exponential32, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(place_64_64), DrawPlaceArguments, kDrawThreads, 4) { place<double>(words); }
WEFT_GPU_KERNEL(WEFT_ENTRY(place_32_32), DrawPlaceArguments, kDrawThreads, 4) { place<float>(words); }
