#include "graph/lower_scan.h"

#include <array>

#include "graph/scan_tree.h"
#include "passes/rewrite.h"

namespace weft {

using ir::Builder;
using ir::ValueId;

namespace {

// Blocks that are walked side by side: one addition after another takes four cycles or so, in which others
// start.
constexpr int64_t kChains = 8;
constexpr int64_t kGroup = kChains * kScanBlock;
static_assert(kScanChunk % kGroup == 0);

// The threads of a team: a chunk is a block for each.
constexpr int64_t kTeam = kScanChunk / kScanBlock;

// Of each of the three arrays over columns: with two rows of elements they stay in the first-level cache.
constexpr int64_t kColumnBytes = 8192;

}  // namespace

ScanLowering::ScanLowering(Builder& builder, const ScanForm& form) : b_(builder), form_(form) {}

int64_t ScanLowering::max_columns(ScalarType compute) { return kColumnBytes / DType::of(compute).itemsize(); }

ValueId ScanLowering::scratch(int64_t length) {
    ir::BufferType type{.element = form_.compute, .space = ir::AddressSpace::kLocal};
    type.alias_scope = passes::unused_alias_scope(b_.function());
    type.strides = {DType::of(form_.compute).itemsize()};
    type.sizes = {length};
    return b_.allocate(std::move(type), "running");
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
        body(begin, b_.apply("minimum", {b_.apply("add", {begin, length}), upper}));
        return Values{};
    });
}

ValueId ScanLowering::steps_carrying(ValueId lower, ValueId upper, int64_t step, ValueId initial,
                                     const std::function<ValueId(ValueId, ValueId, ValueId)>& body) {
    const ValueId length = b_.index(step);
    return b_.for_loop(
        lower, upper, length, Values{initial}, [&](Builder&, std::span<const ValueId> arguments) {
            const ValueId begin = arguments[0], carried = arguments[1];
            return Values{
                body(begin, b_.apply("minimum", {b_.apply("add", {begin, length}), upper}), carried)};
        })[0];
}

// Elements are computed into `values` first, and results stored from there, in loops of their own: those have
// vector lanes, the one between has not.
void ScanLowering::row_in_order(ValueId count, const Load& element, const Store& store_result) {
    const ValueId values = scratch(kGroup), zero = b_.index(0), one = b_.index(1);
    const ValueId start =
        b_.cast(b_.constant(ir::Constant::of(ScalarType::kBool, uint8_t{0})), form_.compute);
    steps_carrying(zero, count, kGroup, start, [&](ValueId begin, ValueId end, ValueId before) {
        const ValueId length = b_.apply("subtract", {end, begin});
        each(zero, length, [&](ValueId k) { store(values, k, element(b_.apply("add", {begin, k}))); });
        // The first element of all is not combined with anything.
        const ValueId is_first = b_.apply("equal", {begin, zero});
        const ValueId from = b_.apply("select", {is_first, one, zero});
        const ValueId carried = b_.apply("select", {is_first, load(values, zero), before});
        const ValueId last = b_.for_loop(from, length, one, Values{carried},
                                         [&](Builder&, std::span<const ValueId> arguments) {
                                             const ValueId k = arguments[0], left = arguments[1];
                                             const ValueId next = combine(left, load(values, k));
                                             store(values, k, next);
                                             return Values{next};
                                         })[0];
        each(zero, length, [&](ValueId k) { store_result(b_.apply("add", {begin, k}), load(values, k)); });
        return last;
    });
}

// Elements [begin, end) of one chunk: gives the last result, and `consume` all of them unless it is empty.
ValueId ScanLowering::blocks(ValueId begin, ValueId end, const Load& element,
                             const std::function<void(ValueId, ValueId)>& consume) {
    const ValueId values = scratch(kGroup), befores = scratch(kChains);
    const ValueId zero = b_.index(0), one = b_.index(1);
    return steps_carrying(begin, end, kGroup, identity(), [&](ValueId from, ValueId to, ValueId before) {
        const ValueId count = b_.apply("subtract", {to, from});
        each(zero, count, [&](ValueId k) { store(values, k, element(b_.apply("add", {from, k}))); });
        each(count, b_.index(kGroup), [&](ValueId k) { store(values, k, identity()); });
        const Values totals =
            b_.for_loop(zero, b_.index(kScanBlock), one, Values(kChains, identity()),
                        [&](Builder&, std::span<const ValueId> arguments) {
                            const Values own(arguments.begin(), arguments.end());
                            Values next;
                            for (int64_t t = 0; t < kChains; ++t) {
                                const ValueId at = b_.apply("add", {own[0], b_.index(t * kScanBlock)});
                                next.push_back(combine(own[static_cast<size_t>(t) + 1], load(values, at)));
                                if (consume) store(values, at, next.back());
                            }
                            return next;
                        });
        for (int64_t t = 0; t < kChains; ++t) {
            store(befores, b_.index(t), before);
            before = combine(before, totals[static_cast<size_t>(t)]);
        }
        if (consume) {
            each(zero, b_.index(kChains), [&](ValueId t) {
                const ValueId before_block = load(befores, t);
                const ValueId lower = b_.apply("multiply", {t, b_.index(kScanBlock)});
                const ValueId upper =
                    b_.apply("minimum", {b_.apply("add", {lower, b_.index(kScanBlock)}), count});
                each(lower, upper, [&](ValueId k) {
                    consume(b_.apply("add", {from, k}), combine(before_block, load(values, k)));
                });
            });
        }
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
                       const ValueId total = blocks(begin, end, element, [&](ValueId k, ValueId value) {
                           store_result(k, combine(before, value));
                       });
                       return combine(before, total);
                   });
}

ValueId ScanLowering::chunk_total(ValueId begin, ValueId end, const Load& element) {
    return blocks(begin, end, element, {});
}

void ScanLowering::chunk(ValueId begin, ValueId end, ValueId before, const Load& element,
                         const Store& store_result) {
    blocks(begin, end, element, [&](ValueId k, ValueId value) { store_result(k, combine(before, value)); });
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
                b_.apply("select", {b_.apply("equal", {k, zero}), own, combine(before, own)});
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

// What each block of a chunk comes to, then what comes before it; behind them what the chunk comes to.
ValueId ScanLowering::shared_totals() {
    ir::BufferType type{.element = form_.compute, .space = ir::AddressSpace::kShared};
    type.alias_scope = passes::unused_alias_scope(b_.function());
    type.strides = {DType::of(form_.compute).itemsize()};
    type.sizes = {kTeam + 1};
    return b_.allocate(std::move(type), "totals");
}

// One thread's part: its block of the chunk. Gives what the chunk comes to, with what came before it.
ValueId ScanLowering::blocks_of_team(ValueId thread, ValueId totals, ValueId begin, ValueId end,
                                     ValueId before, const Load& element, const Store& store_result) {
    const ValueId zero = b_.index(0), one = b_.index(1), length = b_.index(kScanBlock);
    const ValueId offset = b_.apply("multiply", {thread, length});
    const ValueId from = b_.apply("minimum", {b_.apply("add", {begin, offset}), end});
    const ValueId to = b_.apply("minimum", {b_.apply("add", {from, length}), end});
    const auto walk = [&](const std::function<void(ValueId, ValueId)>& consume) {
        return b_.for_loop(from, to, one, Values{identity()},
                           [&](Builder&, std::span<const ValueId> arguments) {
                               const ValueId k = arguments[0], running = arguments[1];
                               const ValueId next = combine(running, element(k));
                               if (consume) consume(k, next);
                               return Values{next};
                           })[0];
    };
    store(totals, thread, walk({}));
    b_.barrier();
    b_.if_else(
        b_.apply("equal", {thread, zero}),
        [&](Builder&, std::span<const ValueId>) {
            const ValueId all = b_.for_loop(zero, b_.index(kTeam), one, Values{identity()},
                                            [&](Builder&, std::span<const ValueId> arguments) {
                                                const ValueId t = arguments[0], sum = arguments[1];
                                                const ValueId own = load(totals, t);
                                                store(totals, t, sum);
                                                return Values{combine(sum, own)};
                                            })[0];
            store(totals, b_.index(kTeam), all);
            return Values{};
        },
        [](Builder&, std::span<const ValueId>) { return Values{}; });
    b_.barrier();
    const ValueId before_block = load(totals, thread), all = load(totals, b_.index(kTeam));
    b_.barrier();
    if (store_result) {
        walk([&](ValueId k, ValueId running) {
            store_result(k, combine(before, combine(before_block, running)));
        });
    }
    return combine(before, all);
}

void ScanLowering::row_of_team(ValueId count, const Load& element, const Store& store_result) {
    const ValueId totals = shared_totals();
    b_.parallel(ir::ParallelLevel::kBlock, std::array{b_.index(kTeam)},
                [&](Builder&, std::span<const ValueId> thread) {
                    const ValueId t = thread[0];
                    steps_carrying(b_.index(0), count, kScanChunk, identity(),
                                   [&](ValueId begin, ValueId end, ValueId before) {
                                       return blocks_of_team(t, totals, begin, end, before, element,
                                                             store_result);
                                   });
                    return Values{};
                });
}

ValueId ScanLowering::chunk_total_of_team(ValueId begin, ValueId end, const Load& element) {
    const ValueId totals = shared_totals();
    b_.parallel(ir::ParallelLevel::kBlock, std::array{b_.index(kTeam)},
                [&](Builder&, std::span<const ValueId> thread) {
                    blocks_of_team(thread[0], totals, begin, end, identity(), element, {});
                    return Values{};
                });
    return load(totals, b_.index(kTeam));
}

void ScanLowering::chunk_of_team(ValueId begin, ValueId end, ValueId before, const Load& element,
                                 const Store& store_result) {
    const ValueId totals = shared_totals();
    b_.parallel(ir::ParallelLevel::kBlock, std::array{b_.index(kTeam)},
                [&](Builder&, std::span<const ValueId> thread) {
                    blocks_of_team(thread[0], totals, begin, end, before, element, store_result);
                    return Values{};
                });
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
