// What conditions tell of integers in the branches and iterations that they lead to.
#include <algorithm>

#include "lang/facts/facts.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr size_t kMostUppers = 256;  // they are searched one by one
constexpr size_t kMostSides = 8;
constexpr int kMostConditions = 64;  // that one tells of

bool is_int64(TypeRef type) { return type->kind == TypeKind::kScalar && type->scalar == ScalarType::kInt64; }

OpId opposite(OpId op) {
    switch (op) {
        case OpId::kLess: return OpId::kGreaterEqual;
        case OpId::kLessEqual: return OpId::kGreater;
        case OpId::kGreater: return OpId::kLessEqual;
        case OpId::kGreaterEqual: return OpId::kLess;
        case OpId::kEqual: return OpId::kNotEqual;
        default: return OpId::kEqual;
    }
}

}  // namespace

void Facts::note_comparison(OpId op, ValueId result, const Value& left, const Value& right) {
    if (dry_ || !is_int64(left.type) || !is_int64(right.type)) return;
    if (left.parts.empty() || right.parts.empty()) return;
    known_.comparisons[result.index] = {op, left.parts[0], right.parts[0]};
}

void Facts::note_junction(bool is_and, ValueId result, ValueId left, ValueId right) {
    if (!dry_ && right.valid()) known_.junctions[result.index] = {is_and, left, right};
}

// Of what a branch gives: those that are conditions.
void Facts::note_choices(ValueId condition, std::span<const ValueId> results, std::span<const ValueId> yes,
                         std::span<const ValueId> no) {
    if (dry_ || yes.size() != results.size() || no.size() != results.size()) return;
    const ir::Type truth = ir::Type::of(ScalarType::kBool);
    for (size_t i = 0; i < results.size(); ++i) {
        if (builder_->function().type(results[i]) == truth)
            known_.choices[results[i].index] = {condition, yes[i], no[i]};
    }
}

std::optional<bool> Facts::known_truth(ValueId value) const {
    const auto found = known_.truths.find(value.index);
    return found == known_.truths.end() ? std::nullopt : std::optional(found->second);
}

void Facts::learn(ValueId condition, bool holds) {
    int steps = kMostConditions;
    learn(condition, holds, steps);
}

// Flags may be made of flags, each of which stands in several.
void Facts::learn(ValueId condition, bool holds, int& steps) {
    if (dry_ || !condition.valid() || steps-- <= 0) return;
    if (const auto found = known_.negations.find(condition.index); found != known_.negations.end())
        return learn(found->second, !holds, steps);
    if (const auto found = known_.junctions.find(condition.index); found != known_.junctions.end()) {
        const Junction junction = found->second;
        if (junction.is_and != holds) return;
        learn(junction.left, holds, steps);
        learn(junction.right, holds, steps);
        return;
    }
    if (const auto found = known_.choices.find(condition.index); found != known_.choices.end()) {
        const Choice choice = found->second;
        const auto can_be = [&](ValueId side, bool taken) {
            return side == choice.condition ? taken == holds : known_truth(side).value_or(holds) == holds;
        };
        const bool yes = can_be(choice.yes, true);
        if (yes == can_be(choice.no, false)) return;
        learn(choice.condition, yes, steps);
        learn(yes ? choice.yes : choice.no, holds, steps);
        return;
    }
    const auto found = known_.comparisons.find(condition.index);
    if (found == known_.comparisons.end()) return;
    const auto [given, left, right] = found->second;
    const OpId op = holds ? given : opposite(given);
    if (op == OpId::kLess || op == OpId::kEqual) learn_less(left, right, op == OpId::kEqual ? 1 : 0);
    if (op == OpId::kLessEqual) learn_less(left, right, 1);
    if (op == OpId::kGreater || op == OpId::kEqual) learn_less(right, left, op == OpId::kEqual ? 1 : 0);
    if (op == OpId::kGreaterEqual) learn_less(right, left, 1);
    if (op == OpId::kNotEqual) learn_different(left, right);
}

void Facts::learn_different(ValueId left, ValueId right) {
    for (const auto& [value, other] : {std::pair{left, right}, std::pair{right, left}}) {
        const Fact known = fact(value), constant = fact(other);
        if (constant.least != constant.most) continue;
        if (known.least == constant.least) refine(value, static_cast<Wide>(known.least) + 1, known.most);
        if (known.most == constant.most) refine(value, known.least, static_cast<Wide>(known.most) - 1);
    }
}

// left < right + more, and so what they are sums of, where these did not overflow.
void Facts::learn_less(ValueId left, ValueId right, int64_t more) {
    const auto exact_base = [&](ValueId value) -> std::pair<ValueId, int64_t> {
        const Sum sum = as_sum(value);
        const bool is_known = sum.least == sum.most && !sum.subtracts && is_exact(sum);
        return is_known ? std::pair{sum.base, sum.least} : std::pair{value, int64_t{0}};
    };
    const auto tell = [&](ValueId low, ValueId high, Wide offset) {
        if (!is_near(offset)) return;
        const Fact below = fact(low), above = fact(high);
        refine(low, below.least, static_cast<Wide>(above.most) + offset - 1);
        refine(high, static_cast<Wide>(below.least) + 1 - offset, above.most);
        const std::vector<Upper> over = uppers_of(high);
        add_upper({low, high, static_cast<int64_t>(offset)});
        for (const Upper& upper : over) {
            const Wide through = static_cast<Wide>(upper.offset) + offset - 1;
            if (is_near(through)) add_upper({low, upper.below, static_cast<int64_t>(through)});
        }
    };
    const auto [left_base, added] = exact_base(left);
    const auto [right_base, over] = exact_base(right);
    tell(left, right, more);
    if (left_base != left || right_base != right)
        tell(left_base, right_base, static_cast<Wide>(more) + over - added);
    if (left_base != left) tell(left_base, right, static_cast<Wide>(more) - added);
}

void Facts::add_upper(const Upper& upper) {
    if (known_.uppers.size() < kMostUppers && !known_.is_same(upper.value, upper.below))
        known_.uppers.push_back({ValueId{known_.number_of(upper.value)}, upper.below, upper.offset});
}

// Bounds that hold for now; what contradicts itself is where nothing comes.
void Facts::refine(ValueId value, Wide least, Wide most) {
    const Fact before = fact(value);
    const bool tells_least = least > before.least && fits(least),
               tells_most = most < before.most && fits(most);
    if (!tells_least && !tells_most) return;
    if (std::max<Wide>(least, before.least) > std::min<Wide>(most, before.most)) return;
    const uint32_t number = known_.number_of(value);
    Known::Bounds& learned = known_.learned[number];
    known_.before.emplace_back(number, learned);
    if (tells_least) learned.least = static_cast<int64_t>(least);
    if (tells_most) learned.most = static_cast<int64_t>(most);
    if (!tells_least || least < 1 || before.least >= 1) return;
    // Neither factor of a product that is not 0 is, even if it wrapped.
    const auto product = known_.operations.find(value.index);
    if (product == known_.operations.end() || product->second.op != OpId::kMultiply) return;
    const Operation factors = product->second;
    for (const ValueId factor : {factors.left, factors.right}) {
        if (fact(factor).least == 0) refine(factor, 1, INT64_MAX);
    }
}

// What the value is less than, of itself and of what it is a sum of.
std::vector<Upper> Facts::uppers_of(ValueId value) const {
    std::vector<Upper> all;
    const auto add = [&](ValueId below, Wide offset) {
        if (is_near(offset)) all.push_back({value, below, static_cast<int64_t>(offset)});
    };
    const auto add_those_of = [&](ValueId other, int64_t more) {
        const Fact known = fact(other);
        if (known.below.valid()) add(known.below, static_cast<Wide>(known.offset) + more);
        const uint32_t number = known_.number_of(other);
        for (const Upper& upper : known_.uppers) {
            if (upper.value.index == number) add(upper.below, static_cast<Wide>(upper.offset) + more);
        }
    };
    add_those_of(value, 0);
    const Sum sum = as_sum(value);
    const bool is_sum = sum.base != value && !sum.subtracts && is_exact(sum, /*only_below=*/true);
    if (is_sum) add_those_of(sum.base, sum.most);
    if (is_sum && sum.most < 0) add(sum.base, static_cast<Wide>(sum.most) + 1);
    return all;
}

// What the value is less than, itself and one among that.
Outcome::Side Facts::side_of(ValueId value) const {
    Outcome::Side side{fact(value).most, uppers_of(value)};
    side.uppers.push_back({value, value, 1});
    return side;
}

// What is above all sides, for a value that is one of them. Where a side is not known to be below it, numbers
// may tell, but only of values before `first`: later ones are not there where another side is taken.
std::vector<Upper> Facts::common_uppers(ValueId value, std::span<const Outcome::Side> sides,
                                        size_t first) const {
    std::vector<Upper> common;
    const auto bound = [&](const Outcome::Side& side, ValueId below) {
        Wide best = kFar + 1;
        if (below.index < first) best = static_cast<Wide>(side.most) - fact(below).least + 1;
        if (best > 1) best = kFar + 1;
        for (const Upper& upper : side.uppers) {
            if (upper.below == below) best = std::min<Wide>(best, upper.offset);
        }
        return best;
    };
    for (const Outcome::Side& side : sides) {
        for (const Upper& upper : side.uppers) {
            const bool is_there = std::any_of(common.begin(), common.end(),
                                              [&](const Upper& each) { return each.below == upper.below; });
            if (is_there) continue;
            Wide offset = -kFar;
            for (const Outcome::Side& each : sides) offset = std::max(offset, bound(each, upper.below));
            if (is_near(offset)) common.push_back({value, upper.below, static_cast<int64_t>(offset)});
        }
    }
    return common;
}

void Facts::meet(Outcome& outcome, ValueId value) const {
    const Fact known = fact(value);
    outcome.sides.push_back(outcome.sides.size() < kMostSides ? side_of(value)
                                                              : Outcome::Side{known.most, {}});
    outcome.least = std::min(outcome.least, known.least);
    outcome.most = std::max(outcome.most, known.most);
}

void Facts::note(ValueId result, const Outcome& outcome, size_t first) {
    if (dry_ || outcome.sides.empty()) return;
    Fact known{outcome.least, outcome.most, {}, 0};
    const std::vector<Upper> uppers = outcome.sides.size() <= kMostSides
                                          ? common_uppers(result, outcome.sides, first)
                                          : std::vector<Upper>();
    if (!uppers.empty()) {
        known.below = uppers[0].below;
        known.offset = uppers[0].offset;
    }
    note(result, known);
    for (const Upper& upper : uppers) add_upper(upper);
}

void Facts::meet(std::vector<Outcome>& outcomes, std::span<const TypeRef> types,
                 std::span<const ValueId> parts) const {
    if (dry_) return;
    outcomes.resize(types.size());
    size_t at = 0;
    for (size_t i = 0; i < types.size(); at += part_count(types[i]), ++i) {
        if (is_int64(types[i])) meet(outcomes[i], parts[at]);
    }
}

void Facts::note(std::span<const ValueId> parts, std::span<const TypeRef> types,
                 std::span<const Outcome> outcomes, size_t first) {
    size_t at = 0;
    for (size_t i = 0; i < outcomes.size(); at += part_count(types[i]), ++i) {
        if (is_int64(types[i])) note(parts[at], outcomes[i], first);
    }
}

}  // namespace weft::lang
