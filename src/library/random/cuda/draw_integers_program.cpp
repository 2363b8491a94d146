// Integers in an interval (Lemire, "Fast random integer generation in an interval", 2019): a unit is a number
// or is refused. A program for each stream.
#include "library/random/cuda/draw_tiles.h"

namespace {

using namespace weft;
using namespace weft::gpu;

// The upper half of a unit's product with how many integers there are, unless the lower half is too low.
template <class Unit, class Value>
class Bounded {
public:
    explicit Bounded(const DrawArguments& words)
        : low_(static_cast<Value>(words.low)),
          integers_(static_cast<Unit>(words.integers)),
          least_(static_cast<Unit>(words.least)) {}
    bool takes(Unit unit) const { return static_cast<Unit>(product(unit)) >= least_; }
    Value value(Unit unit) const { return low_ + static_cast<Value>(product(unit) >> (8 * sizeof(Unit))); }

private:
    auto product(Unit unit) const {
        if constexpr (sizeof(Unit) == sizeof(uint64_t)) {
            return static_cast<unsigned __int128>(unit) * integers_;
        } else {
            return uint64_t{unit} * integers_;
        }
    }
    Value low_;
    Unit integers_, least_;
};

template <class Rows>
struct BoundedMemory {
    typename Rows::Memory stream;
    JoinMemory join;
};

// Bits 0 … 15 become bits 0, 2 … 30.
uint32_t spread(uint32_t bits) {
    bits = (bits | bits << 8) & 0x00ff00ff;
    bits = (bits | bits << 4) & 0x0f0f0f0f;
    bits = (bits | bits << 2) & 0x33333333;
    return (bits | bits << 1) & 0x55555555;
}

template <class Unit, class Value, template <uint32_t> class Stream>
void draw(const DrawArguments& words) {
    constexpr uint32_t kUnits = sizeof(uint64_t) / sizeof(Unit);
    constexpr uint32_t kRows = kMaskRows / kUnits;
    using Rows = Stream<kRows>;
    using Memory = BoundedMemory<Rows>;
    static_assert(sizeof(Memory) <= kDrawMemoryBytes);
    auto& memory = *reinterpret_cast<Memory*>(block_memory());
    const uint32_t tile = next_tile(words, memory.join);
    const Bounded<Unit, Value> method(words);
    Unit units[kRows][kUnits];
    uint32_t taken[kUnits] = {};  // of the row, or the half of a row, whose mask is this lane's
    Rows rows(words, tile, memory.stream);
    rows.each([&](uint32_t row, uint64_t word, const typename Rows::Kept&) {
#pragma unroll
        for (uint32_t k = 0; k < kUnits; ++k) {
            units[row][k] = static_cast<Unit>(word >> (k * 32));
            const uint32_t lanes = ballot(method.takes(units[row][k]));
            if (lane() / kUnits == row) taken[k] = lanes;
        }
    });
    uint32_t mask = taken[0];
    if constexpr (kUnits == 2) {
        const uint32_t half = lane() % 2 * 16;
        mask = spread(taken[0] >> half & 0xffff) | spread(taken[1] >> half & 0xffff) << 1;
    }
    const uint32_t before = sum_before(count_ones(mask));
    const uint32_t all = from_lane(before + count_ones(mask), kWarp - 1);
    const uint32_t skipped = count_ones(from_lane(mask, 0) & lanes_before());
    const Begin begin = join(words, memory.join, tile, entry_of(0, all - skipped));
    if (begin.numbers >= words.count) return;
    if (lane() == 0) mask &= kAllLanes << begin.overshoot;
    const Numbers numbers(words, begin.numbers, mask);
    const auto value_of = [&](Unit unit) { return method.value(unit); };
    numbers.tell_end(words, tile, numbers.write<Value>(words, units, value_of));
}

}  // namespace

// By units of so many bits, which give numbers of so many.
WEFT_GPU_KERNEL(WEFT_ENTRY(integers_32_32), DrawArguments, kDrawThreads, 3) {
    draw<uint32_t, uint32_t, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(integers_32_64), DrawArguments, kDrawThreads, 3) {
    draw<uint32_t, uint64_t, streams::WEFT_STREAM>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(integers_64_64), DrawArguments, kDrawThreads, 3) {
    draw<uint64_t, uint64_t, streams::WEFT_STREAM>(words);
}
