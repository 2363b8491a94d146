#include "passes/threads/thread_checks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "passes/conditions_at_ends.h"
#include "passes/loops_in_blocks.h"
#include "passes/rewrite.h"
#include "passes/threads/computed_values.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

bool is_pure(const Instruction& instruction) {
    return instruction.opcode == Opcode::kConstant || instruction.opcode == Opcode::kApply ||
           instruction.opcode == Opcode::kCast;
}

// Whether a side of a branch yields a bool that is known there: the condition itself, or a constant.
bool is_known(const Region& region, bool known, ValueId condition) {
    if (region.body.size() == 1 && yields(region) && region.body[0].operands == Values{condition})
        return true;
    return region.body.size() == 2 && region.body[0].opcode == Opcode::kConstant &&
           region.body[0].constant.type == ScalarType::kBool &&
           (region.body[0].constant.as<uint8_t>() != 0) == known && yields(region) &&
           region.body[1].operands == region.body[0].results;
}

// `if %a { …; yield %b } else { yield false }` as `logical_and %a, %b`, so that it is known ahead; in the
// same way `or`.
void flatten(Function& function, Region& region) {
    std::vector<Instruction> old = std::move(region.body);
    region.body.clear();
    for (Instruction& each : old) {
        for (Region& inner : each.regions) flatten(function, inner);
        bool is_both = false;
        for (const size_t side : {0, 1}) {
            if (is_both || each.opcode != Opcode::kIf || each.results.size() != 1) break;
            std::vector<Instruction>& computed = each.regions[side].body;
            is_both = yields(each.regions[side]) &&
                      is_known(each.regions[1 - side], side == 1, each.operands[0]) &&
                      std::all_of(computed.begin(), computed.end() - 1, is_pure);
            if (!is_both) continue;
            const ValueId first = each.operands[0], second = computed.back().operands[0];
            computed.pop_back();
            for (Instruction& inner : computed) region.body.push_back(std::move(inner));
            Builder builder(function, region.body);
            builder.apply(side == 0 ? OpId::kLogicalAnd : OpId::kLogicalOr, {first, second});
            region.body.back().results = each.results;
        }
        if (!is_both) region.body.push_back(std::move(each));
    }
}

// `if %a { } else { … }`, as where threads beyond the end return, as `if %b { … }` of what is true where %a
// is not.
class Turning {
public:
    explicit Turning(Function& function) : function_(function) {}

    void run(Region& body) {
        std::vector<Instruction> old = std::move(body.body);
        body.body.clear();
        body.body.reserve(old.size());
        Builder builder(function_, body.body);
        for (Instruction& each : old) {
            const bool turns = each.opcode == Opcode::kIf && each.results.empty() &&
                               each.regions[0].body.size() == 1 && yields(each.regions[0]) &&
                               yields(each.regions[1]) && each.regions[1].body.size() > 1;
            if (turns) {
                each.operands[0] = opposite(builder, each.operands[0]);
                std::swap(each.regions[0], each.regions[1]);
                each.likely = false;
            } else if (is_pure(each)) {
                source_[each.results[0].index] = each;
            }
            builder.append(std::move(each));
        }
    }

private:
    ValueId opposite(Builder& builder, ValueId condition) {
        const auto known = opposites_.find(condition.index);
        if (known != opposites_.end()) return known->second;
        return opposites_[condition.index] = make_opposite(builder, condition);
    }
    ValueId make_opposite(Builder& builder, ValueId condition) {
        const auto found = source_.find(condition.index);
        if (found != source_.end() && found->second.opcode == Opcode::kApply) {
            const Instruction& source = found->second;
            const Values& given = source.operands;
            const OpId op = source.op->id;
            if (op == OpId::kLogicalNot) return given[0];
            if (op == OpId::kLogicalOr || op == OpId::kLogicalAnd) {
                const OpId other = op == OpId::kLogicalOr ? OpId::kLogicalAnd : OpId::kLogicalOr;
                const ValueId first = opposite(builder, given[0]), second = opposite(builder, given[1]);
                return builder.apply(other, {first, second});
            }
            const std::optional<OpId> other = opposite_of(op);
            // A NaN is neither less than anything nor not.
            if (other && !DType(function_.type(given[0]).scalar).is_inexact())
                return builder.apply(*other, {given[0], given[1]});
        }
        return builder.apply(OpId::kLogicalNot, {condition});
    }

    static std::optional<OpId> opposite_of(OpId op) {
        switch (op) {
            case OpId::kLess: return OpId::kGreaterEqual;
            case OpId::kGreaterEqual: return OpId::kLess;
            case OpId::kGreater: return OpId::kLessEqual;
            case OpId::kLessEqual: return OpId::kGreater;
            case OpId::kEqual: return OpId::kNotEqual;
            case OpId::kNotEqual: return OpId::kEqual;
            default: return std::nullopt;
        }
    }

    Function& function_;
    std::unordered_map<uint32_t, Instruction> source_;
    std::unordered_map<uint32_t, ValueId> opposites_;
};

// One loop over the threads of a row.
class Row {
public:
    // `is_narrowed`: the loop has only the threads that take the one branch of its body, as far as can be
    // told.
    Row(const Function& function, const Constants& constants, const Instruction& loop, bool is_narrowed)
        : loop_(loop),
          counter_(loop.regions[0].arguments[0]),
          needed_(function, constants, counter_, [this](ValueId value) { return source_of(value); }),
          all_(function, constants, counter_, [this](ValueId value) { return source_of(value); }),
          is_narrowed_(is_narrowed) {
        walk(loop.regions[0], true);
    }

    bool is_worth_it() const { return !removed_.empty() || !removed_if_all_.empty(); }
    bool is_worth_more() const { return !removed_if_all_.empty(); }

    const ConditionsAtEnds& needed() const { return needed_; }
    const ConditionsAtEnds& all() const { return all_; }

    // The body without what holds at both ends; with `all`, also without what only some threads come to.
    Region body(bool all) const {
        Substitution yielded;
        return stripped(loop_.regions[0], all, yielded);
    }

private:
    std::optional<const Instruction*> source_of(ValueId value) const {
        const auto found = source_.find(value.index);
        if (found != source_.end()) return found->second;
        return unknown_.contains(value.index) ? std::nullopt : std::optional<const Instruction*>(nullptr);
    }

    void note_unknown(const Instruction& instruction) {
        for (const ValueId result : instruction.results) unknown_.insert(result.index);
        for (const Region& region : instruction.regions) {
            for (const ValueId argument : region.arguments) unknown_.insert(argument.index);
            for (const Instruction& inner : region.body) note_unknown(inner);
        }
    }

    // `always`: every thread comes here.
    void walk(const Region& region, bool always) {
        for (const Instruction& each : region.body) {
            if (is_pure(each)) {
                for (const ValueId result : each.results) source_[result.index] = &each;
                continue;
            }
            const bool is_branch = each.opcode == Opcode::kIf && yields(each.regions[0]);
            if (each.opcode == Opcode::kCheck) {
                take(each, always);
            } else if (is_branch && always && (each.likely || is_narrowed_) && take(each, true)) {
                walk(each.regions[0], true);
                note_unknown({.results = each.results});
            } else if (is_branch && !each.results.empty() && take(each, false)) {
                walk(each.regions[0], false);
                note_unknown({.results = each.results});
            } else if (each.opcode == Opcode::kIf) {
                for (const Region& side : each.regions) walk(side, false);
                note_unknown({.results = each.results});
            } else {
                note_unknown(each);
            }
        }
    }

    bool take(const Instruction& instruction, bool always) {
        const ValueId condition = instruction.operands[0];
        if (always && needed_.add(condition)) {
            removed_.insert(&instruction);
            return true;
        }
        if (!all_.add(condition)) return false;
        removed_if_all_.insert(&instruction);
        return true;
    }

    Region stripped(const Region& region, bool all, Substitution& yielded) const {
        Region result;
        result.arguments = region.arguments;
        append(result.body, region, all, yielded);
        return result;
    }

    void append(std::vector<Instruction>& into, const Region& region, bool all, Substitution& yielded) const {
        for (const Instruction& each : region.body) {
            const bool goes = removed_.contains(&each) || (all && removed_if_all_.contains(&each));
            if (!goes) {
                Instruction copy = each;
                yielded.apply(copy.operands);
                for (size_t i = 0; i < copy.regions.size(); ++i)
                    copy.regions[i] = stripped(each.regions[i], all, yielded);
                into.push_back(std::move(copy));
            } else if (each.opcode == Opcode::kIf) {
                append(into, each.regions[0], all, yielded);
                for (size_t i = 0; i < each.results.size(); ++i)
                    yielded.set(each.results[i], into.back().operands[i]);
                into.pop_back();
            }
        }
    }

    const Instruction& loop_;
    const ValueId counter_;
    std::unordered_map<uint32_t, const Instruction*> source_;
    std::unordered_set<uint32_t> unknown_;
    ConditionsAtEnds needed_, all_;
    std::unordered_set<const Instruction*> removed_, removed_if_all_;
    bool is_narrowed_;
};

// The threads of a row that do something, where the body is one branch that compares their places.
class Narrowing {
public:
    Narrowing(Builder& builder, Function& function, const Constants& constants, const Instruction& loop)
        : builder_(builder),
          constants_(constants),
          counter_(loop.regions[0].arguments[0]),
          lower_(loop.operands[0]),
          upper_(loop.operands[1]) {
        const std::vector<Instruction>& body = loop.regions[0].body;
        for (const Instruction& each : body) {
            if (is_pure(each)) {
                for (const ValueId result : each.results) source_[result.index] = &each;
            } else if (&each + 2 == body.data() + body.size() && each.opcode == Opcode::kIf &&
                       each.results.empty() && each.regions[1].body.size() == 1 && yields(each.regions[1])) {
                values_.emplace(function, source_, std::vector{counter_});
                narrow(each.operands[0]);
            } else if (&each + 1 != body.data() + body.size()) {
                return;
            }
        }
    }

    bool has_narrowed() const { return has_narrowed_; }
    ValueId lower() const { return lower_; }
    ValueId upper() const { return upper_; }

private:
    const Instruction* source_of(ValueId value) const {
        const auto found = source_.find(value.index);
        return found == source_.end() ? nullptr : found->second;
    }
    bool varies(ValueId value) { return values_->varies(value); }
    bool rises(ValueId value) { return values_->rises(value); }
    ValueId at_first(ValueId value) { return values_->append(builder_, value, builder_.index(0)); }

    void narrow(ValueId condition) {
        const Instruction* source = source_of(condition);
        if (source == nullptr || source->opcode != Opcode::kApply) return;
        if (!narrowed_.insert(condition.index).second) return;
        const OpId op = source->op->id;
        if (op == OpId::kLogicalAnd) {
            narrow(source->operands[0]);
            narrow(source->operands[1]);
        } else if (const auto bound = bound_of(*source)) {
            narrow(*bound);
        } else if (op == OpId::kEqual && source->operands[0] == counter_) {
            const auto known = constants_.find(source->operands[1].index);
            if (known == constants_.end() || known->second < 0 || known->second == INT64_MAX) return;
            lower_ = builder_.apply(OpId::kMaximum, {lower_, builder_.index(known->second)});
            upper_ = builder_.apply(OpId::kMinimum, {upper_, builder_.index(known->second + 1)});
            has_narrowed_ = true;
        }
    }

    // value < end + offset, or value >= end + offset, where only `value` varies.
    struct Bound {
        ValueId value, end;
        bool is_above;
        int64_t offset;
    };
    std::optional<Bound> bound_of(const Instruction& source) {
        const OpId op = source.op->id;
        const bool is_strict = op == OpId::kLess || op == OpId::kGreater;
        const bool is_less = op == OpId::kLess || op == OpId::kLessEqual;
        if (!is_strict && !is_less && op != OpId::kGreaterEqual) return std::nullopt;
        const ValueId low = source.operands[is_less ? 0 : 1], high = source.operands[is_less ? 1 : 0];
        if (rises(low) && !varies(high)) return Bound{low, high, true, is_strict ? 0 : 1};
        if (rises(high) && !varies(low)) return Bound{high, low, false, is_strict ? 1 : 0};
        return std::nullopt;
    }

    // Far from the ends of int64 nothing overflows; elsewhere all stay.
    void narrow(const Bound& bound) {
        constexpr int64_t kAway = int64_t{1} << 61;
        const ValueId away = builder_.index(kAway), minus_away = builder_.index(-kAway);
        const ValueId first = at_first(bound.value), given = at_first(bound.end);
        const ValueId is_near =
            builder_.apply(OpId::kLogicalAnd, {builder_.apply(OpId::kLessEqual, {first, away}),
                                               builder_.apply(OpId::kGreaterEqual, {first, minus_away})});
        const ValueId near =
            builder_.apply(OpId::kMinimum, {builder_.apply(OpId::kMaximum, {given, minus_away}), away});
        const ValueId end = builder_.apply(OpId::kSubtract, {near, first});
        const ValueId limit = builder_.apply(OpId::kAdd, {end, builder_.index(bound.offset)});
        ValueId& side = bound.is_above ? upper_ : lower_;
        const ValueId narrowed =
            builder_.apply(bound.is_above ? OpId::kMinimum : OpId::kMaximum, {side, limit});
        side = builder_.apply(OpId::kSelect, {is_near, narrowed, side});
        has_narrowed_ = true;
    }

    Builder& builder_;
    const Constants& constants_;
    const ValueId counter_;
    ValueId lower_, upper_;
    bool has_narrowed_ = false;
    Sources source_;
    std::optional<ComputedValues> values_;
    std::unordered_set<uint32_t> narrowed_;  // conditions
};

std::optional<Values> replace(Builder& builder, Function& function, const Instruction& given,
                              const Constants& constants) {
    if (given.lanes == 1 || !given.results.empty()) return std::nullopt;
    Instruction loop = given;
    flatten(function, loop.regions[0]);
    Turning(function).run(loop.regions[0]);
    const Narrowing narrowed(builder, function, constants, loop);
    const Row row(function, constants, loop, narrowed.has_narrowed());
    if (!row.is_worth_it()) return std::nullopt;
    const ValueId lower = narrowed.lower(), upper = narrowed.upper();
    const auto append = [&](Builder& inner, Region body, int64_t lanes) {
        Instruction copy = loop;
        copy.operands[0] = lower;
        copy.operands[1] = upper;
        copy.regions[0] = std::move(body);
        copy.lanes = lanes;
        inner.append(Copier(function).copy(copy));
        return Values{};
    };
    const ValueId last = builder.apply(OpId::kSubtract, {upper, builder.index(1)});
    const ValueId is_some = builder.apply(OpId::kLess, {lower, upper});
    const ValueId holds =
        builder.apply(OpId::kLogicalAnd, {is_some, row.needed().build(builder, function, lower, last)});
    const auto without_needed = [&](Builder& inner, std::span<const ValueId>) {
        return append(inner, row.body(false), loop.lanes);
    };
    builder.if_else(
        holds,
        [&](Builder& inner, std::span<const ValueId> nothing) -> Values {
            if (!row.is_worth_more()) return without_needed(inner, nothing);
            inner.if_else(
                row.all().build(inner, function, lower, last),
                [&](Builder& innermost, std::span<const ValueId>) {
                    return append(innermost, row.body(true), loop.lanes);
                },
                without_needed, /*likely=*/true);
            return {};
        },
        [&](Builder& inner, std::span<const ValueId>) { return append(inner, loop.regions[0], 1); },
        /*likely=*/true);
    return Values{};
}

}  // namespace

void thread_checks(const Module&, Function& function) {
    if (!function.is_kernel) thread_checks(function, function.body);
}

void thread_checks(Function& function, Region& region) {
    replace_loops(
        function, region,
        [&](Builder& builder, const Instruction& loop, const Constants& constants) {
            return replace(builder, function, loop, constants);
        },
        /*takes_lanes=*/true);
}

}  // namespace weft::passes
