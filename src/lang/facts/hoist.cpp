#include "lang/facts/hoist.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// As far from overflow as no index in bounds is, even where two such values are added.
constexpr int64_t kAway = int64_t{1} << 61;

void add_to(std::vector<Hoist::Index>& indices, const Hoist::Index& index) {
    if (std::find(indices.begin(), indices.end(), index) == indices.end()) indices.push_back(index);
}

}  // namespace

// One end of what an index runs through, as a sum that a loop around the index's own can test.
class FunctionLowering::End {
public:
    End(const FunctionLowering& lowering, const Hoist& around, bool is_above)
        : lowering_(lowering), around_(around), is_above_(is_above) {}

    // Adds what the value is at least, or at most. Whether that can be told.
    bool add(ValueId value, bool subtracts) {
        const bool wants_most = subtracts != is_above_;
        const Wide sign = subtracts ? -1 : 1;
        const Fact known = lowering_.fact(value);
        const int64_t bound = wants_most ? known.most : known.least;
        is_sure_ = is_sure_ && is_near(bound);
        if (is_sure_) sure_ += sign * bound;
        if (known.least == known.most) return add_to_constant(sign * bound);
        if (wants_most && value == around_.counter && add_upper(value, subtracts)) return true;
        const Sum sum = lowering_.as_sum(value);
        const bool is_known = (sum.base == around_.counter || around_.is_before(sum.base)) &&
                              (!sum.other.valid() || around_.is_before(sum.other));
        if (is_known) {
            terms_.emplace_back(sum.base, sum.subtracts != subtracts);
            if (sum.other.valid()) terms_.emplace_back(sum.other, subtracts != sum.less_other);
            return add_to_constant(sign * (wants_most ? sum.most : sum.least));
        }
        if (is_near(bound)) return add_to_constant(sign * bound);
        return wants_most && add_upper(value, subtracts);
    }
    bool add(int64_t number) {
        sure_ += number;
        return add_to_constant(number);
    }

    // What has to hold of it, if something has to. Nothing: it cannot be told before the loop around.
    std::optional<std::vector<Hoist::Index>> condition(ValueId size) {
        cancel();
        if (!is_above_ && is_sure_ && sure_ >= 0) return std::vector<Hoist::Index>();
        Hoist::Index index{false,      ValueId{}, static_cast<int64_t>(constant_), 0, ValueId{}, false, size,
                           !is_above_, is_above_};
        index.most = index.least;
        if (terms_.empty() && !is_above_) return std::nullopt;
        std::optional<std::pair<ValueId, bool>> moving, other;
        for (const auto& term : terms_) {
            std::optional<std::pair<ValueId, bool>>& place =
                term.first == around_.counter || (other && !moving) ? moving : other;
            if (place) return std::nullopt;
            place = term;
        }
        if (!moving) std::swap(moving, other);
        if (moving) {
            index.moves = moving->first == around_.counter;
            if (!index.moves) index.base = moving->first;
            index.subtracts = moving->second;
        }
        if (other) {
            index.other = other->first;
            index.less_other = other->second;
        }
        return std::vector{index};
    }

private:
    bool add_to_constant(Wide number) {
        constant_ += number;
        return is_near(constant_);
    }

    bool add_upper(ValueId value, bool subtracts) {
        const std::vector<Upper> uppers = lowering_.uppers_of(value);
        const Upper* best = nullptr;
        for (const Upper& upper : uppers) {
            if (!around_.is_before(upper.below)) continue;
            // That the counter is below its end is known without.
            if (value == around_.counter && upper.below == around_.upper && upper.offset >= 0) continue;
            if (best == nullptr || upper.offset < best->offset) best = &upper;
        }
        if (best == nullptr) return false;
        const Fact known = lowering_.fact(best->below);
        const Wide sign = subtracts ? -1 : 1;
        if (known.least == known.most)
            return add_to_constant(sign * (static_cast<Wide>(known.least) + best->offset - 1));
        terms_.emplace_back(best->below, subtracts);
        return add_to_constant(sign * (static_cast<Wide>(best->offset) - 1));
    }

    void cancel() {
        for (size_t i = 0; i < terms_.size(); ++i) {
            const auto opposite =
                std::find(terms_.begin(), terms_.end(), std::pair{terms_[i].first, !terms_[i].second});
            if (opposite == terms_.end()) continue;
            terms_.erase(opposite);
            terms_.erase(std::find(terms_.begin(), terms_.end(), terms_[i]));
            return cancel();
        }
    }

    const FunctionLowering& lowering_;
    const Hoist& around_;
    bool is_above_;
    std::vector<std::pair<ValueId, bool>> terms_;  // values, and whether they are subtracted
    Wide constant_ = 0;
    // The same by numbers alone.
    bool is_sure_ = true;
    Wide sure_ = 0;
};

bool FunctionLowering::hoist(ValueId index, ValueId size, const Fact& known) {
    if (hoist_ == nullptr || !hoist_->is_before(size)) return false;
    // What is known before the loop is compared as it is, and not the most that it may be.
    const bool is_exact = known.least == known.most || !hoist_->is_before(index);
    if (known.least >= 0 && known.most <= kFar && is_exact) {
        add_to(hoist_->indices, {false, ValueId{}, 0, known.most, ValueId{}, false, size});
        return true;
    }
    const Sum sum = as_sum(index);
    const bool moves = sum.base == hoist_->counter;
    const bool is_short = sum.most <= kFar && sum.least >= -kFar && (moves || hoist_->is_before(sum.base)) &&
                          (!sum.other.valid() || hoist_->is_before(sum.other));
    if (!is_short) return hoist_range(index, size);
    add_to(hoist_->indices,
           {moves, moves ? ValueId{} : sum.base, sum.least, sum.most, sum.other, sum.subtracts, size,
            /*from_below=*/known.least < 0, /*from_above=*/true, sum.less_other});
    return true;
}

// What the loop around can test, once for all runs of this one: its counter is one of the values of before
// this loop.
bool FunctionLowering::hoist_around(const Hoist& inner, const Hoist::Index& index, Hoist& around) const {
    if (!around.is_before(index.size)) return false;
    std::vector<Hoist::Index> needed;
    for (const bool is_above : {false, true}) {
        if (!(is_above ? index.from_above : index.from_below)) continue;
        End end(*this, around, is_above);
        bool is_known = end.add(is_above ? index.most : index.least);
        if (index.moves) {
            const bool is_last = is_above != index.subtracts;
            is_known = is_known && end.add(is_last ? inner.upper : inner.lower, index.subtracts) &&
                       (!is_last || end.add(index.subtracts ? 1 : -1));
        } else if (index.base.valid()) {
            is_known = is_known && end.add(index.base, index.subtracts);
        }
        if (index.other.valid()) is_known = is_known && end.add(index.other, index.less_other);
        if (!is_known) return false;
        const std::optional<std::vector<Hoist::Index>> condition = end.condition(index.size);
        if (!condition) return false;
        needed.insert(needed.end(), condition->begin(), condition->end());
    }
    for (const Hoist::Index& each : needed) add_to(around.indices, each);
    return true;
}

// Whether all indices that were left unchecked are in bounds; invalid where that is known. Sizes are not
// negative and far from the ends of int64, so that nothing here overflows.
ValueId FunctionLowering::hoisted_checks(const Hoist& hoist) {
    ValueId all{};
    const auto need = [&](ValueId holds) {
        all = all.valid() ? builder_->apply(OpId::kLogicalAnd, {all, holds}) : holds;
    };
    for (const Hoist::Index& index : hoist.indices) {
        const auto below_size = [&](OpId compare, ValueId value) {
            const ValueId bound = builder_->apply(OpId::kSubtract, {index.size, builder_->index(index.most)});
            need(builder_->apply(compare, {value, bound}));
        };
        if (!index.moves && !index.base.valid()) {
            below_size(OpId::kLess, builder_->index(0));
            continue;
        }
        const bool is_plain =
            !index.other.valid() && !index.subtracts && index.from_below && index.from_above;
        if (is_plain) {
            const ValueId least = index.moves ? hoist.lower : index.base;
            if (static_cast<Wide>(fact(least).least) + index.least < 0)
                need(builder_->apply(OpId::kGreaterEqual, {least, builder_->index(-index.least)}));
            // Of the counter's values the last is below `upper`.
            below_size(index.moves ? OpId::kLessEqual : OpId::kLess, index.moves ? hoist.upper : index.base);
            continue;
        }
        const ValueId first = index.moves ? hoist.lower : index.base;
        const ValueId end = index.moves ? hoist.upper : index.base;
        const ValueId last =
            index.moves ? builder_->apply(OpId::kSubtract, {end, builder_->index(1)}) : index.base;
        for (const ValueId value : {first, end, index.other}) {
            if (!value.valid()) continue;
            if (fact(value).least < -kAway)
                need(builder_->apply(OpId::kGreaterEqual, {value, builder_->index(-kAway)}));
            if (fact(value).most > kAway)
                need(builder_->apply(OpId::kLessEqual, {value, builder_->index(kAway)}));
        }
        const auto end_of_sum = [&](ValueId moving) {
            if (index.subtracts) {
                const ValueId from =
                    index.other.valid() && !index.less_other ? index.other : builder_->index(0);
                moving = builder_->apply(OpId::kSubtract, {from, moving});
                if (!index.less_other) return moving;
            }
            if (!index.other.valid()) return moving;
            return builder_->apply(index.less_other ? OpId::kSubtract : OpId::kAdd, {moving, index.other});
        };
        if (index.from_below)
            need(builder_->apply(OpId::kGreaterEqual, {end_of_sum(index.subtracts ? last : first),
                                                       builder_->index(-index.least)}));
        if (index.from_above) below_size(OpId::kLess, end_of_sum(index.subtracts ? first : last));
    }
    check_ranges(hoist, need);
    return all;
}

// Whether all that loops in it are loops over what is known before, whose checks those of this one can stand
// for.
bool FunctionLowering::has_simple_loops(NodeId id) const {
    const Node& given = node(id);
    if (given.kind == NodeKind::kWhile || given.kind == NodeKind::kComprehension ||
        given.kind == NodeKind::kTry)
        return false;
    if (given.kind == NodeKind::kFor && is_parallel(given.children[1])) return false;
    return std::all_of(given.children.begin(), given.children.end(),
                       [&](NodeId child) { return has_simple_loops(child); });
}

namespace {

// Whether threads may wait for each other in it.
bool may_meet(std::span<const ir::Instruction> instructions) {
    return std::any_of(instructions.begin(), instructions.end(), [](const ir::Instruction& instruction) {
        const bool meets = instruction.opcode == ir::Opcode::kBarrier ||
                           instruction.opcode == ir::Opcode::kIntrinsic ||
                           instruction.opcode == ir::Opcode::kCall;
        return meets || std::any_of(instruction.regions.begin(), instruction.regions.end(),
                                    [](const ir::Region& region) { return may_meet(region.body); });
    });
}

}  // namespace

std::vector<ValueId> FunctionLowering::build_hoisted(NodeId body, const Hoist& bounds,
                                                     const std::function<std::vector<ValueId>()>& build) {
    // Where the test of an outer loop fails only the innermost are tested, so that loops are made three times
    // at most.
    const bool hoists =
        compilation_.options().check_bounds && (is_second_ ? !has_loop(body) : has_simple_loops(body));
    if (!hoists) return build();
    // The loop as it may run mostly, beside the function until it is known what that takes.
    std::vector<ir::Instruction> instructions;
    std::vector<ValueId> results;
    Hoist hoist = bounds;
    hoist.first = builder_->function().values.size();
    Hoist* const around = hoist_;
    {
        ir::Builder aside(builder_->function(), instructions);
        ir::Builder* const outside = std::exchange(builder_, &aside);
        hoist_ = &hoist;
        results = build();
        hoist_ = around;
        builder_ = outside;
    }
    // Threads of a GPU's warp would come to two barriers where they come to one in the program.
    if (compilation_.options().for_gpu && may_meet(instructions)) {
        const bool was_second = std::exchange(is_second_, true);
        hoist_ = nullptr;
        results = build();
        hoist_ = around;
        is_second_ = was_second;
        return results;
    }
    const auto place = [&] {
        for (ir::Instruction& instruction : instructions) builder_->append(std::move(instruction));
        return results;
    };
    if (around != nullptr) {
        std::erase_if(hoist.indices,
                      [&](const Hoist::Index& index) { return hoist_around(hoist, index, *around); });
        hoist_ranges_around(hoist, *around);
    }
    const ValueId holds = hoisted_checks(hoist);
    if (!holds.valid()) return place();
    return builder_->if_else(
        holds, [&](ir::Builder&, std::span<const ValueId>) { return place(); },
        [&](ir::Builder&, std::span<const ValueId>) {
            const bool was_second = std::exchange(is_second_, true);
            hoist_ = nullptr;
            std::vector<ValueId> checked = build();
            hoist_ = around;
            is_second_ = was_second;
            return checked;
        },
        /*likely=*/true);
}

}  // namespace weft::lang
