#include "passes/lower_reductions.h"

#include <algorithm>
#include <bit>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

constexpr int64_t kMaxLevels = 64;  // of the binary counter: sizes are 64-bit
constexpr int64_t kFew = 8, kFewBits = 3;
constexpr int64_t kTeamLanes = 32;  // a warp

Values slice(std::span<const ValueId> values, size_t from, size_t count) {
    auto part = values.subspan(from, count);
    return {part.begin(), part.end()};
}

// Writes the loops of one reduction. Local arrays are allocated where `allocations` are collected, which no
// loop encloses.
class Expansion {
public:
    Expansion(Builder& builder, Builder& allocations, const Instruction& reduction)
        : b_(builder), allocations_(allocations), reduction_(reduction), lanes_(reduction.lanes) {
        initials_ = slice(reduction.operands, 1, reduction.operands.size() - 1);
    }

    Values run() {
        ValueId size = b_.apply(OpId::kMaximum, {reduction_.operands[0], b_.index(0)});
        if (reduction_.block == 0) return block(b_.index(0), size);
        if (reduction_.block == 1) {
            return pairwise(size, [&](ValueId k) { return element(k); });
        }
        int64_t length = reduction_.block;
        ValueId rounded = b_.apply(OpId::kAdd, {size, b_.index(length - 1)});
        return pairwise(b_.apply(OpId::kFloorDivide, {rounded, b_.index(length)}), [&](ValueId k) {
            ValueId start = b_.apply(OpId::kMultiply, {k, b_.index(length)});
            ValueId rest = b_.apply(OpId::kSubtract, {size, start});
            return block(start, b_.apply(OpId::kMinimum, {rest, b_.index(length)}));
        });
    }

    void run_scan() {
        loop(b_.index(0), reduction_.operands[0], initials_, [&](ValueId i, std::span<const ValueId> prefix) {
            Values next = combine(prefix, element(i));
            Values arguments{i};
            arguments.insert(arguments.end(), next.begin(), next.end());
            append_copy(b_, reduction_.regions[2], arguments);
            return next;
        });
    }

private:
    // One local array for each component of the accumulator.
    Values arrays(int64_t length, const std::string& name) {
        Values result;
        for (ValueId initial : initials_) {
            ScalarType element = b_.type(initial).scalar;
            BufferType type{.element = element, .space = AddressSpace::kLocal};
            type.alias_scope = unused_alias_scope(b_.function());
            type.strides = {DType::of(element).itemsize()};
            type.sizes = {length};
            result.push_back(allocations_.allocate(std::move(type), name));
        }
        return result;
    }

    Values load(const Values& arrays, ValueId at) {
        Values result;
        for (ValueId array : arrays) result.push_back(b_.load(array, std::array{at}));
        return result;
    }
    void store(const Values& arrays, ValueId at, const Values& values) {
        for (size_t i = 0; i < arrays.size(); i++) b_.store(arrays[i], values[i], std::array{at});
    }

    Values element(ValueId i) { return append_copy(b_, reduction_.regions[0], std::array{i}); }
    Values combine(std::span<const ValueId> left, std::span<const ValueId> right) {
        Values arguments(left.begin(), left.end());
        arguments.insert(arguments.end(), right.begin(), right.end());
        return append_copy(b_, reduction_.regions[1], arguments);
    }

    template <class Body>
    Values loop(ValueId lower, ValueId upper, const Values& initials, const Body& body) {
        return b_.for_loop(lower, upper, b_.index(1), initials,
                           [&](Builder&, std::span<const ValueId> arguments) {
                               // Copied: the body may make the vector of arguments move.
                               Values carried = slice(arguments, 1, initials.size());
                               return body(arguments[0], std::span<const ValueId>(carried));
                           });
    }
    template <class Body>
    void each(ValueId lower, ValueId upper, const Body& body) {
        loop(lower, upper, {}, [&](ValueId i, std::span<const ValueId>) {
            body(i);
            return Values{};
        });
    }

    // Elements [start, start + count).
    Values block(ValueId start, ValueId count) {
        if (lanes_ == 1) {
            ValueId end = b_.apply(OpId::kAdd, {start, count});
            return loop(start, end, initials_, [&](ValueId i, std::span<const ValueId> accumulator) {
                return combine(accumulator, element(i));
            });
        }
        ValueId zero = b_.index(0), lanes = b_.index(lanes_);
        ValueId rows =
            b_.apply(OpId::kRightShift, {count, b_.index(std::countr_zero(static_cast<uint64_t>(lanes_)))});
        ValueId full = b_.apply(OpId::kMultiply, {rows, lanes});

        // Whole rows go to an array that is indexed by constants once LLVM has unrolled the lanes, and so
        // becomes registers; what follows an incomplete row needs one that stays in memory.
        Values fast = arrays(lanes_, "lanes");
        each(zero, lanes, [&](ValueId l) { store(fast, l, initials_); });
        each(zero, rows, [&](ValueId row) {
            ValueId first = b_.apply(OpId::kAdd, {start, b_.apply(OpId::kMultiply, {row, lanes})});
            each(zero, lanes, [&](ValueId l) { accumulate(fast, l, b_.apply(OpId::kAdd, {first, l})); });
        });
        ValueId rest = b_.apply(OpId::kSubtract, {count, full});
        const auto of_all = [&](Builder&, std::span<const ValueId>) { return halves_of_all(fast); };
        ValueId some = b_.apply(OpId::kGreater, {rows, zero});
        ValueId whole = b_.apply(OpId::kLogicalAnd, {some, b_.apply(OpId::kEqual, {rest, zero})});
        return b_.if_else(whole, of_all, [&](Builder&, std::span<const ValueId>) {
            Values slow = arrays(lanes_, "partials");
            each(zero, lanes, [&](ValueId l) { store(slow, l, load(fast, l)); });
            ValueId rest_start = b_.apply(OpId::kAdd, {start, full});
            each(zero, rest, [&](ValueId l) { accumulate(slow, l, b_.apply(OpId::kAdd, {rest_start, l})); });
            const auto of_some = [&](Builder&, std::span<const ValueId>) { return halves(slow, count); };
            return b_.if_else(
                some,
                [&](Builder&, std::span<const ValueId>) {
                    Values again = arrays(lanes_, "lanes");
                    each(zero, lanes, [&](ValueId l) { store(again, l, load(slow, l)); });
                    return halves_of_all(again);
                },
                of_some);
        });
    }

    // Combines the lanes by halves where each has got elements: in registers, without a branch, so that the
    // next block's loads are under way meanwhile.
    Values halves_of_all(const Values& lanes) {
        Values wide = lanes;
        for (int64_t half = lanes_ / 2; half >= 1; half /= 2) {
            Values narrow = arrays(half, "half");
            each(b_.index(0), b_.index(half), [&](ValueId l) {
                Values right = load(wide, b_.apply(OpId::kAdd, {l, b_.index(half)}));
                store(narrow, l, combine(load(wide, l), right));
            });
            wide = std::move(narrow);
        }
        return load(wide, b_.index(0));
    }

    // Of lanes in memory, of which the first `count` have elements; the others take no part.
    Values halves(const Values& slow, ValueId count) {
        ValueId zero = b_.index(0), one = b_.index(1);
        // Few lanes have no part in the upper levels.
        int64_t top = std::countr_zero(static_cast<uint64_t>(lanes_));
        ValueId half = b_.index(lanes_ / 2), levels = b_.index(top);
        for (int64_t level = std::min<int64_t>(top, 4) - 1; level > 0; level--) {
            ValueId few = b_.apply(OpId::kLessEqual, {count, b_.index(int64_t{1} << level)});
            half = b_.apply(OpId::kSelect, {few, b_.index(int64_t{1} << (level - 1)), half});
            levels = b_.apply(OpId::kSelect, {few, b_.index(level), levels});
        }
        Values widths{b_.apply(OpId::kMinimum, {count, b_.index(lanes_)}), half};
        loop(zero, levels, widths, [&](ValueId, std::span<const ValueId> carried) {
            ValueId width = carried[0], middle = carried[1];
            each(zero, b_.apply(OpId::kSubtract, {width, middle}), [&](ValueId l) {
                Values right = load(slow, b_.apply(OpId::kAdd, {l, middle}));
                store(slow, l, combine(load(slow, l), right));
            });
            return Values{b_.apply(OpId::kMinimum, {width, middle}),
                          b_.apply(OpId::kRightShift, {middle, one})};
        });
        return load(slow, zero);
    }

    void accumulate(const Values& arrays, ValueId lane, ValueId i) {
        Values next = element(i);
        store(arrays, lane, combine(load(arrays, lane), next));
    }

    ValueId count_ones(ValueId value) {
        return b_.cast(b_.apply(OpId::kBitwiseCount, {value}), ScalarType::kInt64);
    }

    // Combines results 0 … count-1 as a binary counter does: before result k comes, the stack holds one
    // partial for each bit of k, the largest at the bottom; then partials of equal size merge. Eight results
    // at a time are combined before they come to it, without a branch.
    template <class Partial>
    Values pairwise(ValueId count, const Partial& partial) {
        ValueId zero = b_.index(0);
        Values stack = arrays(kMaxLevels, "stack"), few = arrays(kFew, "few");
        store(stack, zero, initials_);
        each(zero, count, [&](ValueId k) {
            ValueId place = b_.apply(OpId::kBitwiseAnd, {k, b_.index(kFew - 1)});
            store(few, place, partial(k));
            b_.if_else(
                b_.apply(OpId::kEqual, {place, b_.index(kFew - 1)}),
                [&](Builder&, std::span<const ValueId>) {
                    push(stack, b_.apply(OpId::kRightShift, {k, b_.index(kFewBits)}), neighbours(few));
                    return Values{};
                },
                [](Builder&, std::span<const ValueId>) { return Values{}; });
        });
        each(b_.apply(OpId::kBitwiseAnd, {count, b_.index(-kFew)}), count, [&](ValueId k) {
            push(stack, k, load(few, b_.apply(OpId::kBitwiseAnd, {k, b_.index(kFew - 1)})));
        });
        ValueId highest = b_.apply(OpId::kSubtract, {count_ones(count), b_.index(1)});
        Values last = load(stack, b_.apply(OpId::kMaximum, {highest, zero}));
        return loop(zero, highest, last, [&](ValueId m, std::span<const ValueId> accumulator) {
            ValueId at = b_.apply(OpId::kSubtract, {b_.apply(OpId::kSubtract, {highest, b_.index(1)}), m});
            return combine(load(stack, at), accumulator);
        });
    }

    // All of `results`, pairwise.
    Values neighbours(const Values& results) {
        std::vector<Values> level;
        for (int64_t i = 0; i < kFew; i++) level.push_back(load(results, b_.index(i)));
        for (; level.size() > 1; level.resize(level.size() / 2)) {
            for (size_t i = 0; i < level.size() / 2; i++) level[i] = combine(level[2 * i], level[2 * i + 1]);
        }
        return level[0];
    }

    // Result k comes to the stack.
    void push(const Values& stack, ValueId k, const Values& right) {
        ValueId one = b_.index(1), depth = count_ones(k);
        ValueId after = count_ones(b_.apply(OpId::kAdd, {k, one}));
        ValueId top = b_.apply(OpId::kSubtract, {after, one});  // where the merged partial goes
        // Partials top … depth-1 are merged into it, the upper ones first.
        ValueId merges = b_.apply(OpId::kSubtract, {depth, top});
        ValueId highest = b_.apply(OpId::kSubtract, {depth, one});
        Values merged =
            loop(b_.index(0), merges, right, [&](ValueId m, std::span<const ValueId> accumulator) {
                return combine(load(stack, b_.apply(OpId::kSubtract, {highest, m})), accumulator);
            });
        store(stack, top, merged);
    }

    Builder& b_;
    Builder& allocations_;
    const Instruction& reduction_;
    int64_t lanes_;
    Values initials_;
};

bool is_for_team(const Instruction& instruction) {
    return instruction.opcode == Opcode::kReduce &&
           (instruction.lanes == kTeamLanes || (instruction.lanes == 1 && instruction.block == 1));
}

// A reduction in one lane and one block, of elements that are only read and computed.
bool is_chain(const Instruction& instruction) {
    const auto is_plain = [](const Instruction& inner) {
        return inner.opcode == Opcode::kConstant || inner.opcode == Opcode::kApply ||
               inner.opcode == Opcode::kCast || inner.opcode == Opcode::kLoad ||
               inner.opcode == Opcode::kYield;
    };
    return instruction.opcode == Opcode::kReduce && instruction.lanes == 1 && instruction.block == 0 &&
           std::all_of(instruction.regions.begin(), instruction.regions.end(), [&](const Region& region) {
               return std::all_of(region.body.begin(), region.body.end(), is_plain);
           });
}

// Whether `matches` some instruction that all threads of a team come to: in the region or, outside of blocks,
// in one within.
template <class Predicate>
bool any_of_team(const Region& region, const Predicate& matches) {
    return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
        if (matches(instruction)) return true;
        return std::any_of(instruction.regions.begin(), instruction.regions.end(),
                           [&](const Region& inner) { return any_of_team(inner, matches); });
    });
}

class Lowering {
public:
    // For threads, the reductions of teams are left, or if there are none, chains that stand in no loop.
    Lowering(Function& function, bool for_threads)
        : function_(function),
          teams_(for_threads && needs_teams(function)),
          chains_(for_threads && !needs_teams(function)) {}

    void run() { lower_root(function_.body, teams_); }

private:
    // A body that no loop encloses within its parallel region; its local arrays are allocated once, at its
    // start.
    void lower_root(Region& region, bool of_team) {
        std::vector<Instruction> allocated;
        Builder allocations(function_, allocated);
        lower(region, allocations, of_team, chains_);
        region.body.insert(region.body.begin(), std::make_move_iterator(allocated.begin()),
                           std::make_move_iterator(allocated.end()));
    }

    static bool is_left(const Instruction& instruction, bool of_team) {
        return of_team && is_for_team(instruction) && !any_of_team(instruction.regions[0], is_for_team);
    }

    void lower(Region& region, Builder& allocations, bool of_team, bool leave_chains) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            replaced_.apply(instruction.operands);
            const bool left = is_left(instruction, of_team) || (leave_chains && is_chain(instruction));
            for (Region& inner : instruction.regions) {
                if (instruction.opcode == Opcode::kParallel) {
                    lower_root(inner, of_team && instruction.level == ParallelLevel::kGrid);
                } else {
                    lower(inner, allocations, of_team && !left, false);
                }
            }
            Builder builder(function_, region.body);
            if (instruction.opcode == Opcode::kReduce && !left) {
                Values results = Expansion(builder, allocations, instruction).run();
                for (size_t i = 0; i < results.size(); i++) replaced_.set(instruction.results[i], results[i]);
            } else if (instruction.opcode == Opcode::kScan) {
                Expansion(builder, allocations, instruction).run_scan();
            } else {
                region.body.push_back(std::move(instruction));
            }
        }
    }

    Function& function_;
    bool teams_, chains_;
    Substitution replaced_;
};

}  // namespace

void lower_reductions(const Module&, Function& function) { Lowering(function, false).run(); }

void lower_reductions_of_threads(const Module&, Function& function) { Lowering(function, true).run(); }

bool needs_teams(const Function& kernel) {
    return any_of_team(kernel.body, [&](const Instruction& instruction) {
        if (instruction.opcode == Opcode::kParallel) return instruction.level == ParallelLevel::kBlock;
        if (instruction.opcode == Opcode::kAllocate)
            return kernel.type(instruction.results[0]).buffer.space == AddressSpace::kShared;
        return is_for_team(instruction);
    });
}

}  // namespace weft::passes
