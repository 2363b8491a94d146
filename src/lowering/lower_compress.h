// The body of a kernel that counts and writes what a mask selects in one pass, for GPUs: a point of the grid
// is a tile of neighbouring elements and a team of threads. A tile learns how many are selected before it
// from what the tiles before it have published: D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan
// with Decoupled Look-back", NVIDIA, 2016.
#pragma once

#include <cstddef>
#include <functional>

#include "ir/builder.h"

namespace weft {

// Elements of a tile where results are of this type.
int64_t compress_tile(ScalarType result);
// Words of 64 bits, zero before each launch, that a launch of so many tiles counts in.
int64_t compress_words(int64_t tiles);
// Which of them says afterwards how many elements are selected, those beyond the capacity too.
constexpr int64_t kSelectedWord = 1;

class CompressLowering {
public:
    struct Parameters {
        // Buffers: of what is selected, over two numbers that make a place together; of the words.
        ir::ValueId output, words;
        // The array has so many elements; this many results have room; the first elements of neighbouring
        // tiles are so many tiles apart; there are so many tiles.
        ir::ValueId elements, capacity, step, tiles;
    };
    // Each of a thread's elements has a number. Its position in C order is the sum of two, since what is
    // added to the tile's begin fits 32 bits. `inside` is false where it is none of the array's: the position
    // is then that of another one.
    struct Element {
        size_t number;
        ir::ValueId begin, in_tile, inside;
    };
    struct Elements {
        std::function<ir::ValueId(const Element&)> mask;
        // None: positions are selected. What the mask has not made known is computed, and read, where it is
        // selected.
        std::function<ir::ValueId(const Element&)> value;
        std::function<bool(const Element&)> is_known;
        std::function<void(const Element&)> store;  // what else is stored of each
    };

    using Values = std::vector<ir::ValueId>;

    CompressLowering(ir::Builder& builder, ScalarType result, const Parameters& parameters);

    // Indices of the space, whose sizes but for the first are given. Of one dimension: two, the tile's begin
    // and what is added to it.
    Values indices_of(const Element& element, const Values& sizes);

    void tile(const Elements& elements);

private:
    struct Shared {
        ir::ValueId ticket, flags, counts, groups, runs, nearest, sum, before;
    };
    struct Thread {
        ir::ValueId index, number;  // i64, u32
    };

    ir::ValueId word(int64_t value);
    ir::ValueId long_word(uint64_t value);
    ir::ValueId shared(ScalarType type, int64_t length, const char* name);
    ir::ValueId load(ir::ValueId array, ir::ValueId at);
    void store(ir::ValueId array, ir::ValueId at, ir::ValueId value);
    void add_to(ir::ValueId array, ir::ValueId at, ir::ValueId value, ir::MemoryScope scope);
    void when(ir::ValueId condition, const std::function<void()>& body);
    // Or zeros.
    Values when(ir::ValueId condition, const std::vector<ScalarType>& types,
                const std::function<Values()>& body);
    ir::ValueId status(ir::ValueId tile);
    int64_t tile_elements() const;

    Shared share();
    ir::ValueId take_ticket(const Shared& memory, const Thread& thread);
    Values compress(const Shared& memory, const Thread& thread, ir::ValueId begin, const Elements& elements);
    ir::ValueId rank_runs(const Shared& memory, const Thread& thread);
    ir::ValueId published(ir::ValueId tile);
    ir::ValueId selected_before(const Shared& memory, const Thread& thread, ir::ValueId tile);
    void write(const Shared& memory, const Thread& thread, ir::ValueId begin, ir::ValueId before,
               const Values& values);

    ir::Builder& b_;
    const ScalarType result_;
    const Parameters parameters_;
    const int64_t elements_of_thread_;
};

}  // namespace weft
