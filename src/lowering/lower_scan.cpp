#include "lowering/lower_scan.h"

#include <algorithm>
#include <array>
#include <bit>

#include "library/loops/scan_order.h"
#include "passes/rewrite.h"

namespace weft {

using ir::Builder;
using ir::ValueId;

namespace {

// Blocks that are walked side by side, as vector lanes.
constexpr int64_t kLanes = 8;
constexpr int64_t kGroup = kLanes * kScanBlock;
constexpr int64_t kBlockShift = std::countr_zero(uint64_t{kScanBlock});
static_assert(kScanChunk % kGroup == 0);

// Bytes of a block in a tile, which is a vector register: what is transposed stays in registers.
constexpr int64_t kTileRowBytes = 32;

// The threads of a team, and what it works on at a time, in shared memory: whole blocks, each a step longer
// than it is, so that threads that walk neighbouring blocks meet in no bank.
constexpr int64_t kTeam = 256;
constexpr int64_t kTileBytes = 32768;
constexpr int64_t kPaddedBlock = kScanBlock + 1;
static_assert(kScanChunk / kScanBlock <= kTeam && kTeam % kScanBlock == 0);

// Of each of the three arrays over columns: with two rows of elements they stay in the first-level cache.
constexpr int64_t kColumnBytes = 8192;

}  // namespace

ScanLowering::ScanLowering(Builder& builder, const ScanForm& form, bool streamed)
    : b_(builder), form_(form), streamed_(streamed) {}

int64_t ScanLowering::max_columns(ScalarType compute) { return kColumnBytes / DType::of(compute).itemsize(); }

ValueId ScanLowering::scratch(int64_t length) {
    ir::BufferType type{.element = form_.compute, .space = ir::AddressSpace::kLocal};
    type.alias_scope = passes::unused_alias_scope(b_.function());
    type.strides = {DType::of(form_.compute).itemsize()};
    type.sizes = {length};
    return b_.allocate(std::move(type), "running");
}

// Elements of each block that are transposed at a time.
int64_t ScanLowering::steps_of_tile() const {
    return std::min(kLanes, kTileRowBytes / DType::of(form_.compute).itemsize());
}

ValueId ScanLowering::load(ValueId array, ValueId at) { return b_.load(array, std::array{at}); }

void ScanLowering::store(ValueId array, ValueId at, ValueId value) { b_.store(array, value, std::array{at}); }

ValueId ScanLowering::combine(ValueId left, ValueId right) {
    return b_.apply(*form_.op, std::array{left, right});
}

ValueId ScanLowering::identity() { return b_.constant(*scan_identity(*form_.op, form_.compute)); }

void ScanLowering::each(ValueId lower, ValueId upper, const std::function<void(ValueId)>& body) {
    b_.for_loop(lower, upper, b_.index(1), {}, [&](Builder&, std::span<const ValueId> arguments) {
        body(arguments[0]);
        return Values{};
    });
}

// [lower, upper) in pieces of `step`, the last one perhaps shorter.
void ScanLowering::steps(ValueId lower, ValueId upper, int64_t step,
                         const std::function<void(ValueId, ValueId)>& body) {
    const ValueId length = b_.index(step);
    b_.for_loop(lower, upper, length, {}, [&](Builder&, std::span<const ValueId> arguments) {
        const ValueId begin = arguments[0];
        body(begin, b_.apply(OpId::kMinimum, {b_.apply(OpId::kAdd, {begin, length}), upper}));
        return Values{};
    });
}

ValueId ScanLowering::steps_carrying(ValueId lower, ValueId upper, int64_t step, ValueId initial,
                                     const std::function<ValueId(ValueId, ValueId, ValueId)>& body) {
    const ValueId length = b_.index(step);
    return b_.for_loop(
        lower, upper, length, Values{initial}, [&](Builder&, std::span<const ValueId> arguments) {
            const ValueId begin = arguments[0], carried = arguments[1];
            return Values{body(
                begin, b_.apply(OpId::kMinimum, {b_.apply(OpId::kAdd, {begin, length}), upper}), carried)};
        })[0];
}

// Elements are computed into `values` first, and results stored from there, in loops of their own: those have
// vector lanes, the one between has not.
void ScanLowering::row_in_order(ValueId count, const Load& element, const Store& store_result) {
    const ValueId values = scratch(kGroup), zero = b_.index(0), one = b_.index(1);
    const ValueId start =
        b_.cast(b_.constant(ir::Constant::of(ScalarType::kBool, uint8_t{0})), form_.compute);
    steps_carrying(zero, count, kGroup, start, [&](ValueId begin, ValueId end, ValueId before) {
        const ValueId length = b_.apply(OpId::kSubtract, {end, begin});
        each(zero, length, [&](ValueId k) { store(values, k, element(b_.apply(OpId::kAdd, {begin, k}))); });
        // The first element of all is not combined with anything.
        const ValueId is_first = b_.apply(OpId::kEqual, {begin, zero});
        const ValueId from = b_.apply(OpId::kSelect, {is_first, one, zero});
        const ValueId carried = b_.apply(OpId::kSelect, {is_first, load(values, zero), before});
        const ValueId last = b_.for_loop(from, length, one, Values{carried},
                                         [&](Builder&, std::span<const ValueId> arguments) {
                                             const ValueId k = arguments[0], left = arguments[1];
                                             const ValueId next = combine(left, load(values, k));
                                             store(values, k, next);
                                             return Values{next};
                                         })[0];
        each(zero, length,
             [&](ValueId k) { store_result(b_.apply(OpId::kAdd, {begin, k}), load(values, k)); });
        return last;
    });
}

// Elements [begin, end) of one chunk: gives the last result, and stores `finish` of all of them, if there is
// something to store. Blocks are lanes: a tile of some elements of each is transposed, so that neighbours in
// memory are elements that are combined at the same time, and transposed back.
ValueId ScanLowering::blocks(ValueId begin, ValueId end, const Load& element, const Load& finish,
                             const Store& store_result) {
    const int64_t tile_steps = steps_of_tile();
    const ValueId values = scratch(kGroup), tile = scratch(tile_steps * kLanes), running = scratch(kLanes);
    // An array of its own, since it is read by a number that is not known, and LLVM then keeps the other in
    // registers.
    const ValueId befores = scratch(kLanes);
    const ValueId zero = b_.index(0), lanes = b_.index(kLanes);
    const ValueId tile_length = b_.index(tile_steps), block = b_.index(kScanBlock);
    const auto place = [&](ValueId row, ValueId length, ValueId column) {
        return b_.apply(OpId::kAdd, {b_.apply(OpId::kMultiply, {row, length}), column});
    };
    return steps_carrying(begin, end, kGroup, identity(), [&](ValueId from, ValueId to, ValueId before) {
        const ValueId count = b_.apply(OpId::kSubtract, {to, from});
        each(count, b_.index(kGroup), [&](ValueId k) { store(values, k, identity()); });
        each(zero, count, [&](ValueId k) { store(values, k, element(b_.apply(OpId::kAdd, {from, k}))); });
        for (int64_t lane = 0; lane < kLanes; ++lane) store(running, b_.index(lane), identity());
        steps(zero, block, tile_steps, [&](ValueId first, ValueId) {
            const auto in_values = [&](ValueId lane, ValueId step) {
                return b_.apply(
                    OpId::kAdd,
                    {b_.apply(OpId::kAdd, {b_.apply(OpId::kMultiply, {lane, block}), first}), step});
            };
            each(zero, lanes, [&](ValueId lane) {
                each(zero, tile_length, [&](ValueId step) {
                    store(tile, place(step, lanes, lane), load(values, in_values(lane, step)));
                });
            });
            each(zero, tile_length, [&](ValueId step) {
                each(zero, lanes, [&](ValueId lane) {
                    const ValueId at = place(step, lanes, lane);
                    const ValueId next = combine(load(running, lane), load(tile, at));
                    store(running, lane, next);
                    if (store_result) store(tile, at, next);
                });
            });
            if (!store_result) return;
            each(zero, lanes, [&](ValueId lane) {
                each(zero, tile_length, [&](ValueId step) {
                    store(values, in_values(lane, step), load(tile, place(step, lanes, lane)));
                });
            });
        });
        // From what each block comes to, to what comes before it.
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            const ValueId total = load(running, b_.index(lane));
            if (store_result) store(befores, b_.index(lane), before);
            before = combine(before, total);
        }
        if (!store_result) return before;
        each(zero, lanes, [&](ValueId lane) {
            const ValueId before_block = load(befores, lane);
            const auto result = [&](ValueId k) { return finish(combine(before_block, load(values, k))); };
            const ValueId first = b_.apply(OpId::kMultiply, {lane, block});
            ValueId last = b_.apply(OpId::kAdd, {first, block});
            if (streamed_) {
                each(first, last, [&](ValueId k) { store(values, k, result(k)); });
            } else {
                last = b_.apply(OpId::kMinimum, {last, count});
                each(first, last,
                     [&](ValueId k) { store_result(b_.apply(OpId::kAdd, {from, k}), result(k)); });
            }
        });
        // All together, in whole lines.
        if (streamed_)
            each(zero, count,
                 [&](ValueId k) { store_result(b_.apply(OpId::kAdd, {from, k}), load(values, k)); });
        return before;
    });
}

void ScanLowering::row(ValueId count, const Load& element, const Store& store_result) {
    if (form_.in_order) {
        row_in_order(count, element, store_result);
        return;
    }
    steps_carrying(b_.index(0), count, kScanChunk, identity(),
                   [&](ValueId begin, ValueId end, ValueId before) {
                       const auto finish = [&](ValueId value) { return combine(before, value); };
                       return combine(before, blocks(begin, end, element, finish, store_result));
                   });
}

ValueId ScanLowering::chunk_total(ValueId begin, ValueId end, const Load& element) {
    return blocks(begin, end, element, {}, {});
}

void ScanLowering::chunk(ValueId begin, ValueId end, ValueId before, const Load& element,
                         const Store& store_result) {
    const auto finish = [&](ValueId value) { return combine(before, value); };
    blocks(begin, end, element, finish, store_result);
}

void ScanLowering::before(ValueId count, const Load& element, const Store& store_result) {
    b_.for_loop(b_.index(0), count, b_.index(1), Values{identity()},
                [&](Builder&, std::span<const ValueId> arguments) {
                    const ValueId k = arguments[0], sum = arguments[1];
                    store_result(k, sum);
                    return Values{combine(sum, element(k))};
                });
}

void ScanLowering::row_of_thread(ValueId count, const Load& element, const Store& store_result) {
    const ValueId zero = b_.index(0), one = b_.index(1);
    if (form_.in_order) {
        const ValueId start =
            b_.cast(b_.constant(ir::Constant::of(ScalarType::kBool, uint8_t{0})), form_.compute);
        b_.for_loop(zero, count, one, Values{start}, [&](Builder&, std::span<const ValueId> arguments) {
            const ValueId k = arguments[0], before = arguments[1], own = element(k);
            // The first element of all is not combined with anything.
            const ValueId next =
                b_.apply(OpId::kSelect, {b_.apply(OpId::kEqual, {k, zero}), own, combine(before, own)});
            store_result(k, next);
            return Values{next};
        });
        return;
    }
    steps_carrying(
        zero, count, kScanChunk, identity(), [&](ValueId begin, ValueId end, ValueId before_chunk) {
            const ValueId total = steps_carrying(
                begin, end, kScanBlock, identity(), [&](ValueId from, ValueId to, ValueId before) {
                    const ValueId last = b_.for_loop(
                        from, to, one, Values{identity()}, [&](Builder&, std::span<const ValueId> arguments) {
                            const ValueId k = arguments[0], running = arguments[1];
                            const ValueId next = combine(running, element(k));
                            store_result(k, combine(before_chunk, combine(before, next)));
                            return Values{next};
                        })[0];
                    return combine(before, last);
                });
            return combine(before_chunk, total);
        });
}

// Elements of a tile: a power of two of blocks, at most a chunk.
int64_t ScanLowering::tile_elements() const {
    return std::min(kScanChunk, kTileBytes / DType::of(form_.compute).itemsize());
}

ValueId ScanLowering::shared(int64_t length, const char* name) {
    ir::BufferType type{.element = form_.compute, .space = ir::AddressSpace::kShared};
    type.alias_scope = passes::unused_alias_scope(b_.function());
    type.strides = {DType::of(form_.compute).itemsize()};
    type.sizes = {length};
    return b_.allocate(std::move(type), name);
}

ScanLowering::Tile ScanLowering::shared_tile() {
    const int64_t blocks = tile_elements() / kScanBlock;
    Tile tile;
    tile.values = shared(blocks * kPaddedBlock, "tile");
    tile.totals = shared(blocks, "totals");
    tile.befores = shared(blocks, "befores");
    tile.whole = shared(1, "whole");
    return tile;
}

// One thread's part of a tile, elements [begin, end): elements are read and results written side by side,
// and between a thread walks a block. Gives what the chunk comes to so far.
ValueId ScanLowering::tile_of_team(ValueId thread, const Tile& tile, ValueId begin, ValueId end,
                                   ValueId before_chunk, ValueId before, const Load& element,
                                   const Store& store_result) {
    const ValueId zero = b_.index(0), one = b_.index(1), team = b_.index(kTeam);
    const ValueId length = b_.index(kScanBlock), shift = b_.index(kBlockShift);
    const ValueId count = b_.apply(OpId::kSubtract, {end, begin});
    const ValueId blocks =
        b_.apply(OpId::kRightShift, {b_.apply(OpId::kAdd, {count, b_.index(kScanBlock - 1)}), shift});
    // A thread's elements, each with its block and its place in the tile.
    const auto each_of_thread = [&](const std::function<void(ValueId, ValueId, ValueId)>& body) {
        // Counted one by one, so that several iterations can be under way at a time.
        const ValueId ahead =
            b_.apply(OpId::kSubtract, {b_.apply(OpId::kAdd, {count, b_.index(kTeam - 1)}), thread});
        const ValueId iterations =
            b_.apply(OpId::kRightShift, {ahead, b_.index(std::countr_zero(uint64_t{kTeam}))});
        const ValueId first = b_.apply(OpId::kRightShift, {thread, shift});
        const Values start{thread, first, b_.apply(OpId::kAdd, {thread, first})};
        b_.for_loop(zero, iterations, one, start, [&](Builder&, std::span<const ValueId> arguments) {
            const ValueId k = arguments[1], block = arguments[2], place = arguments[3];
            body(k, block, place);
            return Values{b_.apply(OpId::kAdd, {k, team}),
                          b_.apply(OpId::kAdd, {block, b_.index(kTeam / kScanBlock)}),
                          b_.apply(OpId::kAdd, {place, b_.index(kTeam / kScanBlock * kPaddedBlock)})};
        });
    };
    const auto if_in = [&](ValueId condition, const std::function<void()>& body) {
        b_.if_else(
            condition,
            [&](Builder&, std::span<const ValueId>) {
                body();
                return Values{};
            },
            [](Builder&, std::span<const ValueId>) { return Values{}; });
    };

    each_of_thread([&](ValueId k, ValueId, ValueId place) {
        store(tile.values, place, element(b_.apply(OpId::kAdd, {begin, k})));
    });
    // The last block of a row may not be whole.
    const ValueId rest = b_.apply(OpId::kAdd, {count, thread});
    if_in(b_.apply(OpId::kLess, {rest, b_.apply(OpId::kMultiply, {blocks, length})}), [&] {
        store(tile.values, b_.apply(OpId::kAdd, {rest, b_.apply(OpId::kRightShift, {rest, shift})}),
              identity());
    });
    b_.barrier();
    const ValueId has_block = b_.apply(OpId::kLess, {thread, blocks});
    if_in(has_block, [&] {
        const ValueId first = b_.apply(OpId::kMultiply, {thread, b_.index(kPaddedBlock)});
        const ValueId total = b_.for_loop(
            zero, length, one, Values{identity()}, [&](Builder&, std::span<const ValueId> arguments) {
                const ValueId at = b_.apply(OpId::kAdd, {first, arguments[0]});
                const ValueId next = combine(arguments[1], load(tile.values, at));
                if (store_result) store(tile.values, at, next);
                return Values{next};
            })[0];
        store(tile.totals, thread, total);
    });
    b_.barrier();
    // Every thread finds what comes before each block, and keeps its own; one tells what comes after all.
    if_in(has_block, [&] {
        const Values sums = b_.for_loop(
            zero, blocks, one, Values{before, before}, [&](Builder&, std::span<const ValueId> arguments) {
                const ValueId k = arguments[0], sum = arguments[1];
                const ValueId own =
                    b_.apply(OpId::kSelect, {b_.apply(OpId::kEqual, {k, thread}), sum, arguments[2]});
                return Values{combine(sum, load(tile.totals, k)), own};
            });
        if (store_result) store(tile.befores, thread, sums[1]);
        if_in(b_.apply(OpId::kEqual, {thread, zero}), [&] { store(tile.whole, zero, sums[0]); });
    });
    b_.barrier();
    const ValueId whole = load(tile.whole, zero);
    if (store_result) {
        each_of_thread([&](ValueId k, ValueId block, ValueId place) {
            const ValueId in_chunk = combine(load(tile.befores, block), load(tile.values, place));
            store_result(b_.apply(OpId::kAdd, {begin, k}), combine(before_chunk, in_chunk));
        });
    }
    b_.barrier();
    return whole;
}

ValueId ScanLowering::chunk_of_thread(ValueId thread, const Tile& tile, ValueId begin, ValueId end,
                                      ValueId before, const Load& element, const Store& store_result) {
    return steps_carrying(
        begin, end, tile_elements(), identity(), [&](ValueId from, ValueId to, ValueId before_tile) {
            return tile_of_team(thread, tile, from, to, before, before_tile, element, store_result);
        });
}

void ScanLowering::by_team(const std::function<void(ValueId thread)>& body) {
    b_.parallel(ir::ParallelLevel::kBlock, std::array{b_.index(kTeam)},
                [&](Builder&, std::span<const ValueId> thread) {
                    body(thread[0]);
                    return Values{};
                });
}

void ScanLowering::row_of_team(ValueId count, const Load& element, const Store& store_result) {
    const Tile tile = shared_tile();
    by_team([&](ValueId thread) {
        steps_carrying(
            b_.index(0), count, kScanChunk, identity(), [&](ValueId begin, ValueId end, ValueId before) {
                return combine(before,
                               chunk_of_thread(thread, tile, begin, end, before, element, store_result));
            });
    });
}

ValueId ScanLowering::chunk_total_of_team(ValueId begin, ValueId end, const Load& element) {
    const Tile tile = shared_tile();
    const ValueId zero = b_.index(0);
    by_team([&](ValueId thread) {
        const ValueId total = chunk_of_thread(thread, tile, begin, end, identity(), element, {});
        b_.if_else(
            b_.apply(OpId::kEqual, {thread, zero}),
            [&](Builder&, std::span<const ValueId>) {
                store(tile.whole, zero, total);
                return Values{};
            },
            [](Builder&, std::span<const ValueId>) { return Values{}; });
    });
    return load(tile.whole, zero);
}

void ScanLowering::chunk_of_team(ValueId begin, ValueId end, ValueId before, const Load& element,
                                 const Store& store_result) {
    const Tile tile = shared_tile();
    by_team(
        [&](ValueId thread) { chunk_of_thread(thread, tile, begin, end, before, element, store_result); });
}

void ScanLowering::across(ValueId rows, ValueId columns, const LoadAt& element, const StoreAt& store_result) {
    const ValueId zero = b_.index(0), one = b_.index(1);
    const int64_t most = max_columns(form_.compute);
    const ValueId running = scratch(most);
    if (form_.in_order) {
        each(zero, columns, [&](ValueId c) {
            const ValueId first = element(zero, c);
            store(running, c, first);
            store_result(zero, c, first);
        });
        each(one, rows, [&](ValueId k) {
            each(zero, columns, [&](ValueId c) {
                const ValueId next = combine(load(running, c), element(k, c));
                store(running, c, next);
                store_result(k, c, next);
            });
        });
        return;
    }
    const ValueId before_block = scratch(most), before_chunk = scratch(most);
    const auto restart = [&](ValueId array) {
        each(zero, columns, [&](ValueId c) { store(array, c, identity()); });
    };
    const auto advance = [&](ValueId array, ValueId by) {
        each(zero, columns, [&](ValueId c) { store(array, c, combine(load(array, c), load(by, c))); });
    };
    restart(before_chunk);
    steps(zero, rows, kScanChunk, [&](ValueId chunk_begin, ValueId chunk_end) {
        restart(before_block);
        steps(chunk_begin, chunk_end, kScanBlock, [&](ValueId begin, ValueId end) {
            restart(running);
            each(begin, end, [&](ValueId k) {
                each(zero, columns, [&](ValueId c) {
                    const ValueId next = combine(load(running, c), element(k, c));
                    store(running, c, next);
                    const ValueId in_chunk = combine(load(before_block, c), next);
                    store_result(k, c, combine(load(before_chunk, c), in_chunk));
                });
            });
            advance(before_block, running);
        });
        advance(before_chunk, before_block);
    });
}

}  // namespace weft
