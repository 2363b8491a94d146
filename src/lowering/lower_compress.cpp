#include "lowering/lower_compress.h"

#include <algorithm>
#include <array>
#include <bit>

#include "passes/rewrite.h"

namespace weft {

using ir::Builder;
using ir::ValueId;

namespace {

constexpr int64_t kTeam = 256;
constexpr int64_t kMostOfThread = 16;  // elements
constexpr int64_t kThreadBytes = 128;  // of the values that a thread has under way
// Neighbours whose flags become bits of a word. In shared memory they are a word longer than they are, so
// that threads that read neighbouring runs meet in no bank.
constexpr int64_t kRun = 32;
constexpr int64_t kPadding = 4;
constexpr int64_t kGroup = 16;  // runs, whose counts each of their threads adds up
constexpr int64_t kGroupShift = std::countr_zero(uint64_t{kGroup});
constexpr int64_t kRunShift = std::countr_zero(uint64_t{kRun});
static_assert(kTeam % kRun == 0);

// Of the words: a ticket, how many are selected, and from a line of memory of their own on, what the tiles
// have published. That is a status in the two top bits, 0 for nothing, and a count: of the tile's own
// elements, or of all up to and with the tile. Status and count are one word, so that nothing has to be
// ordered with it.
constexpr int64_t kTicketWord = 0;
constexpr int64_t kFirstStatus = 16;
constexpr int kStatusShift = 62;
constexpr uint64_t kOfTile = uint64_t{1} << kStatusShift, kOfAll = uint64_t{2} << kStatusShift;
constexpr uint64_t kCount = kOfTile - 1;

// A run's word: which of its elements are selected, and above these how many of its tile are before it.
constexpr uint64_t kRankShift = 32;

int64_t elements_of_thread(ScalarType result) {
    return std::min(kMostOfThread, kThreadBytes / DType::of(result).itemsize());
}

}  // namespace

int64_t compress_tile(ScalarType result) { return kTeam * elements_of_thread(result); }

int64_t compress_words(int64_t tiles) { return kFirstStatus + tiles; }

CompressLowering::CompressLowering(Builder& builder, ScalarType result, const Parameters& parameters)
    : b_(builder),
      result_(result),
      parameters_(parameters),
      elements_of_thread_(elements_of_thread(result)) {}

CompressLowering::Values CompressLowering::indices_of(const Element& element, const Values& sizes) {
    if (sizes.empty()) return {element.begin, element.in_tile};
    Values indices(sizes.size() + 1);
    indices[0] = b_.apply(OpId::kAdd, {element.begin, element.in_tile});
    for (size_t d = sizes.size(); d > 0; --d) {
        const ValueId position = indices[0], size = sizes[d - 1];
        indices[0] = b_.apply(OpId::kFloorDivide, {position, size});
        indices[d] = b_.apply(OpId::kSubtract, {position, b_.apply(OpId::kMultiply, {indices[0], size})});
    }
    return indices;
}

ValueId CompressLowering::word(int64_t value) {
    return b_.constant(ir::Constant::of(ScalarType::kUInt32, static_cast<uint32_t>(value)));
}

ValueId CompressLowering::long_word(uint64_t value) {
    return b_.constant(ir::Constant::of(ScalarType::kUInt64, value));
}

ValueId CompressLowering::shared(ScalarType type, int64_t length, const char* name) {
    ir::BufferType buffer{.element = type, .space = ir::AddressSpace::kShared};
    buffer.alias_scope = passes::unused_alias_scope(b_.function());
    buffer.strides = {DType::of(type).itemsize()};
    buffer.sizes = {length};
    return b_.allocate(std::move(buffer), name);
}

ValueId CompressLowering::load(ValueId array, ValueId at) { return b_.load(array, std::array{at}); }

void CompressLowering::store(ValueId array, ValueId at, ValueId value) {
    b_.store(array, value, std::array{at});
}

void CompressLowering::add_to(ValueId array, ValueId at, ValueId value, ir::MemoryScope scope) {
    b_.atomic(op_info(OpId::kAdd), array, value, std::array{at}, ir::MemoryOrder::kRelaxed, scope);
}

void CompressLowering::when(ValueId condition, const std::function<void()>& body) {
    when(condition, {}, [&] {
        body();
        return Values{};
    });
}

CompressLowering::Values CompressLowering::when(ValueId condition, const std::vector<ScalarType>& types,
                                                const std::function<Values()>& body) {
    return b_.if_else(
        condition, [&](Builder&, std::span<const ValueId>) { return body(); },
        [&](Builder&, std::span<const ValueId>) {
            Values zeros;
            for (const ScalarType type : types)
                zeros.push_back(b_.cast(b_.constant(ir::Constant::of(ScalarType::kBool, uint8_t{0})), type));
            return zeros;
        });
}

ValueId CompressLowering::status(ValueId tile) {
    return b_.apply(OpId::kAdd, {tile, b_.index(kFirstStatus)});
}

int64_t CompressLowering::tile_elements() const { return kTeam * elements_of_thread_; }

CompressLowering::Shared CompressLowering::share() {
    const int64_t runs = tile_elements() / kRun;
    Shared memory;
    memory.ticket = shared(ScalarType::kInt64, 1, "ticket");
    memory.flags = shared(ScalarType::kUInt8, runs * (kRun + kPadding), "flags");
    memory.counts = shared(ScalarType::kUInt32, runs, "counts");
    memory.groups = shared(ScalarType::kUInt32, runs / kGroup, "groups");
    memory.runs = shared(ScalarType::kUInt64, runs, "runs");
    memory.nearest = shared(ScalarType::kUInt32, 1, "nearest");
    memory.sum = shared(ScalarType::kUInt32, 1, "sum");
    memory.before = shared(ScalarType::kUInt64, 1, "before");
    return memory;
}

void CompressLowering::tile(const Elements& elements) {
    const Shared memory = share();
    const Builder::Body of_thread = [&](Builder&, std::span<const ValueId> threads) {
        const Thread thread{threads[0], b_.cast(threads[0], ScalarType::kUInt32)};
        const ValueId tile = take_ticket(memory, thread);
        const ValueId begin = b_.apply(OpId::kMultiply, {b_.apply(OpId::kMultiply, {tile, parameters_.step}),
                                                         b_.index(tile_elements())});
        const Values values = compress(memory, thread, begin, elements);
        b_.barrier();
        const ValueId of_tile = rank_runs(memory, thread);
        const ValueId is_first = b_.apply(OpId::kEqual, {thread.number, word(0)});
        when(is_first, [&] {
            add_to(parameters_.words, status(tile), b_.apply(OpId::kAdd, {of_tile, long_word(kOfTile)}),
                   ir::MemoryScope::kDevice);
            store(memory.nearest, b_.index(0), word(kTeam));
            store(memory.sum, b_.index(0), word(0));
            store(memory.before, b_.index(0), long_word(0));
        });
        b_.barrier();
        const ValueId before = selected_before(memory, thread, tile);
        when(is_first, [&] {
            add_to(parameters_.words, status(tile),
                   b_.apply(OpId::kAdd, {before, long_word(kOfAll - kOfTile)}), ir::MemoryScope::kDevice);
            const ValueId last = b_.apply(OpId::kSubtract, {parameters_.tiles, b_.index(1)});
            when(b_.apply(OpId::kEqual, {tile, last}), [&] {
                store(parameters_.words, b_.index(kSelectedWord), b_.apply(OpId::kAdd, {before, of_tile}));
            });
        });
        write(memory, thread, begin, b_.cast(before, ScalarType::kInt64), values);
        return Values{};
    };
    b_.parallel(ir::ParallelLevel::kBlock, std::array{b_.index(kTeam)}, of_thread);
}

// Tiles are taken in the order in which teams begin, so that each waits only for teams that run.
ValueId CompressLowering::take_ticket(const Shared& memory, const Thread& thread) {
    const ValueId zero = b_.index(0);
    when(b_.apply(OpId::kEqual, {thread.number, word(0)}), [&] {
        const ValueId ticket =
            b_.atomic(op_info(OpId::kAdd), parameters_.words, long_word(1), std::array{b_.index(kTicketWord)},
                      ir::MemoryOrder::kRelaxed, ir::MemoryScope::kDevice);
        store(memory.ticket, zero, b_.cast(ticket, ScalarType::kInt64));
    });
    b_.barrier();
    return load(memory.ticket, zero);
}

// Computes the flags, for all to see, and the thread's values. What is read is read before anything is
// written, so that all of it is under way together.
CompressLowering::Values CompressLowering::compress(const Shared& memory, const Thread& thread, ValueId begin,
                                                    const Elements& elements) {
    const auto small = [&](int64_t value) {
        return b_.constant(ir::Constant::of(ScalarType::kInt32, static_cast<int32_t>(value)));
    };
    const ValueId rest = b_.apply(OpId::kSubtract, {parameters_.elements, begin});
    const ValueId count =
        b_.cast(b_.apply(OpId::kMinimum, {rest, b_.index(tile_elements())}), ScalarType::kInt32);
    const ValueId last = b_.apply(OpId::kSubtract, {count, small(1)});
    const ValueId own = b_.cast(thread.index, ScalarType::kInt32);
    std::vector<Element> places;
    Values chosen, values;
    for (int64_t k = 0; k < elements_of_thread_; ++k) {
        const ValueId place = b_.apply(OpId::kAdd, {own, small(k * kTeam)});
        const ValueId in_tile = b_.cast(b_.apply(OpId::kMinimum, {place, last}), ScalarType::kInt64);
        places.push_back({static_cast<size_t>(k), begin, in_tile, b_.apply(OpId::kLessEqual, {place, last})});
        chosen.push_back(b_.apply(OpId::kLogicalAnd, {elements.mask(places.back()), places.back().inside}));
    }
    for (size_t k = 0; elements.value && k < places.size(); ++k) {
        const auto value = [&] { return Values{elements.value(places[k])}; };
        values.push_back((elements.is_known(places[k]) ? value() : when(chosen[k], {result_}, value))[0]);
    }
    const ValueId run =
        b_.cast(b_.apply(OpId::kRightShift, {thread.number, word(kRunShift)}), ScalarType::kInt64);
    const ValueId padded =
        b_.apply(OpId::kAdd, {thread.index, b_.apply(OpId::kMultiply, {run, b_.index(kPadding)})});
    for (size_t k = 0; k < places.size(); ++k) {
        const int64_t row = static_cast<int64_t>(k) * (kTeam / kRun) * (kRun + kPadding);
        store(memory.flags, b_.apply(OpId::kAdd, {padded, b_.index(row)}),
              b_.cast(chosen[k], ScalarType::kUInt8));
    }
    for (size_t k = 0; elements.store && k < places.size(); ++k) elements.store(places[k]);
    return values;
}

// From flags to the words of runs, by a thread each. Gives the first one how many of the tile are selected.
ValueId CompressLowering::rank_runs(const Shared& memory, const Thread& thread) {
    const int64_t runs = tile_elements() / kRun;
    const ValueId has_run = b_.apply(OpId::kLess, {thread.number, word(runs)});
    const ValueId bits = when(has_run, {ScalarType::kUInt32}, [&] {
        const ValueId first = b_.apply(OpId::kMultiply, {thread.index, b_.index(kRun + kPadding)});
        ValueId bits = word(0);
        for (int64_t k = 0; k < kRun; ++k) {
            const ValueId flag = load(memory.flags, b_.apply(OpId::kAdd, {first, b_.index(k)}));
            const ValueId bit = b_.apply(OpId::kLeftShift, {b_.cast(flag, ScalarType::kUInt32), word(k)});
            bits = b_.apply(OpId::kBitwiseOr, {bits, bit});
        }
        const ValueId count = b_.cast(b_.apply(OpId::kBitwiseCount, {bits}), ScalarType::kUInt32);
        store(memory.counts, thread.index, count);
        return Values{bits};
    })[0];
    b_.barrier();

    // Of counts from `begin` on: those of numbers below `own`, and all.
    const auto sums = [&](ValueId array, ValueId begin, int64_t length, ValueId own) {
        ValueId before = word(0), all = word(0);
        for (int64_t k = 0; k < length; ++k) {
            const ValueId count = load(array, b_.apply(OpId::kAdd, {begin, b_.index(k)}));
            const ValueId is_before = b_.apply(OpId::kLess, {word(k), own});
            before = b_.apply(OpId::kAdd, {before, b_.apply(OpId::kSelect, {is_before, count, word(0)})});
            all = b_.apply(OpId::kAdd, {all, count});
        }
        return Values{before, all};
    };
    const ValueId place = b_.apply(OpId::kBitwiseAnd, {thread.number, word(kGroup - 1)});
    const ValueId group = b_.apply(OpId::kRightShift, {thread.number, word(kGroupShift)});
    const ValueId in_group = when(has_run, {ScalarType::kUInt32}, [&] {
        const ValueId begin =
            b_.cast(b_.apply(OpId::kLeftShift, {group, word(kGroupShift)}), ScalarType::kInt64);
        const Values of_group = sums(memory.counts, begin, kGroup, place);
        when(b_.apply(OpId::kEqual, {place, word(0)}),
             [&] { store(memory.groups, b_.cast(group, ScalarType::kInt64), of_group[1]); });
        return Values{of_group[0]};
    })[0];
    b_.barrier();
    return when(has_run, {ScalarType::kUInt64}, [&] {
        const Values of_groups = sums(memory.groups, b_.index(0), runs / kGroup, group);
        const ValueId rank = b_.cast(b_.apply(OpId::kAdd, {of_groups[0], in_group}), ScalarType::kUInt64);
        const ValueId high = b_.apply(OpId::kLeftShift, {rank, long_word(kRankShift)});
        store(memory.runs, thread.index,
              b_.apply(OpId::kBitwiseOr, {high, b_.cast(bits, ScalarType::kUInt64)}));
        return Values{b_.cast(of_groups[1], ScalarType::kUInt64)};
    })[0];
}

// What a tile has published, once it has; before the first one there is nothing.
ValueId CompressLowering::published(ValueId tile) {
    const auto look = [&] {
        return b_.atomic(op_info(OpId::kBitwiseOr), parameters_.words, long_word(0), std::array{status(tile)},
                         ir::MemoryOrder::kRelaxed, ir::MemoryScope::kDevice);
    };
    return b_.if_else(
        b_.apply(OpId::kGreaterEqual, {tile, b_.index(0)}),
        [&](Builder&, std::span<const ValueId>) {
            return b_.while_loop(
                Values{look()},
                [&](Builder&, std::span<const ValueId> seen) {
                    return Values{b_.apply(OpId::kLess, {seen[0], long_word(kOfTile)}), seen[0]};
                },
                [&](Builder&, std::span<const ValueId>) { return Values{look()}; });
        },
        [&](Builder&, std::span<const ValueId>) { return Values{long_word(kOfAll)}; })[0];
}

// Each thread looks at one of the tiles before this one; the nearest that knows about all before it ends the
// search, what lies between is added.
ValueId CompressLowering::selected_before(const Shared& memory, const Thread& thread, ValueId tile) {
    const ValueId zero = b_.index(0);
    const Values start{b_.constant(ir::Constant::of(ScalarType::kBool, uint8_t{1})),
                       b_.apply(OpId::kSubtract, {tile, b_.index(1)}), long_word(0)};
    return b_.while_loop(
        start,
        [&](Builder&, std::span<const ValueId> carried) { return Values(carried.begin(), carried.end()); },
        [&](Builder&, std::span<const ValueId> carried) {
            const ValueId latest = carried[0], after = carried[1];
            const ValueId seen = published(b_.apply(OpId::kSubtract, {latest, thread.index}));
            const ValueId count = b_.apply(OpId::kBitwiseAnd, {seen, long_word(kCount)});
            when(b_.apply(OpId::kGreaterEqual, {seen, long_word(kOfAll)}), [&] {
                b_.atomic(op_info(OpId::kMinimum), memory.nearest, thread.number, std::array{zero},
                          ir::MemoryOrder::kRelaxed, ir::MemoryScope::kBlock);
            });
            b_.barrier();
            const ValueId nearest = load(memory.nearest, zero);
            when(b_.apply(OpId::kLess, {thread.number, nearest}), [&] {
                add_to(memory.sum, zero, b_.cast(count, ScalarType::kUInt32), ir::MemoryScope::kBlock);
            });
            when(b_.apply(OpId::kEqual, {thread.number, nearest}),
                 [&] { store(memory.before, zero, count); });
            b_.barrier();
            const ValueId between = b_.cast(load(memory.sum, zero), ScalarType::kUInt64);
            const ValueId before =
                b_.apply(OpId::kAdd, {after, b_.apply(OpId::kAdd, {between, load(memory.before, zero)})});
            const ValueId goes_on = b_.apply(OpId::kEqual, {nearest, word(kTeam)});
            when(goes_on, [&] {
                b_.barrier();
                when(b_.apply(OpId::kEqual, {thread.number, word(0)}),
                     [&] { store(memory.sum, zero, word(0)); });
                b_.barrier();
            });
            return Values{goes_on, b_.apply(OpId::kSubtract, {latest, b_.index(kTeam)}), before};
        })[1];
}

void CompressLowering::write(const Shared& memory, const Thread& thread, ValueId begin, ValueId before,
                             const Values& values) {
    const ValueId left = b_.apply(OpId::kSubtract, {parameters_.capacity, before});
    const ValueId room = b_.cast(
        b_.apply(OpId::kMinimum, {b_.apply(OpId::kMaximum, {left, b_.index(0)}), b_.index(tile_elements())}),
        ScalarType::kUInt32);
    const ValueId bit =
        b_.apply(OpId::kLeftShift, {word(1), b_.apply(OpId::kBitwiseAnd, {thread.number, word(kRun - 1)})});
    const ValueId lower = b_.apply(OpId::kSubtract, {bit, word(1)});
    const ValueId run =
        b_.cast(b_.apply(OpId::kRightShift, {thread.number, word(kRunShift)}), ScalarType::kInt64);
    for (int64_t k = 0; k < elements_of_thread_; ++k) {
        const ValueId own = load(memory.runs, b_.apply(OpId::kAdd, {run, b_.index(k * (kTeam / kRun))}));
        const ValueId bits = b_.cast(own, ScalarType::kUInt32);
        const ValueId before_run =
            b_.cast(b_.apply(OpId::kRightShift, {own, long_word(kRankShift)}), ScalarType::kUInt32);
        const ValueId in_run = b_.apply(OpId::kBitwiseCount, {b_.apply(OpId::kBitwiseAnd, {bits, lower})});
        const ValueId rank = b_.apply(OpId::kAdd, {before_run, b_.cast(in_run, ScalarType::kUInt32)});
        const ValueId is_chosen =
            b_.apply(OpId::kNotEqual, {b_.apply(OpId::kBitwiseAnd, {bits, bit}), word(0)});
        const ValueId is_written =
            b_.apply(OpId::kLogicalAnd, {is_chosen, b_.apply(OpId::kLess, {rank, room})});
        const ValueId value =
            values.empty()
                ? b_.apply(OpId::kAdd, {begin, b_.apply(OpId::kAdd, {thread.index, b_.index(k * kTeam)})})
                : values[static_cast<size_t>(k)];
        const std::array place{before, b_.cast(rank, ScalarType::kInt64)};
        b_.store_if(parameters_.output, value, place, is_written);
    }
}

}  // namespace weft
