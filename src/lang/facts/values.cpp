// What is known of integers, so that checks of indices can be left out or done once before a loop.
#include <algorithm>

#include "lang/facts/facts.h"
#include "lang/facts/hoist.h"

namespace weft::lang {

using ir::ValueId;

Fact Facts::fact(ValueId value) const { return known_.fact(value); }

// The same operation on the same values has been seen before, or this is the first.
void Facts::number_operation(OpId op, ValueId result, ValueId left, ValueId right) {
    if (builder_->function().type(result) != ir::Type::of(ScalarType::kInt64)) return;
    constexpr int64_t kConstant = int64_t{1} << 32;  // beyond all values' numbers
    const auto number = [&](ValueId value) {
        const Fact known = fact(value);
        const bool is_small = known.least == known.most && known.least >= 0 && known.least < kConstant;
        return is_small ? known.least + kConstant : static_cast<int64_t>(known_.number_of(value));
    };
    std::array<int64_t, 3> key{static_cast<int64_t>(op), number(left), number(right)};
    const bool commutes =
        op == OpId::kAdd || op == OpId::kMultiply || op == OpId::kMinimum || op == OpId::kMaximum;
    if (commutes && key[1] > key[2]) std::swap(key[1], key[2]);
    const auto [first, is_new] = known_.first.try_emplace(key, result.index);
    if (!is_new) known_.numbers[result.index] = first->second;
}

void Facts::note(ValueId value, const Fact& known) {
    if (!dry_) known_.facts[value.index] = known;
}

// Bounds of a result that cannot have overflowed.
void Facts::note_operator(OpId op, ValueId result, ValueId left, ValueId right) {
    if (dry_) return;
    number_operation(op, result, left, right);
    if (op == OpId::kAdd || op == OpId::kSubtract || op == OpId::kMultiply || op == OpId::kFloorDivide)
        known_.operations[result.index] = {op, left, right};
    if (op == OpId::kMultiply && left != right) {
        const auto one = known_.arrays.find(left.index), other = known_.arrays.find(right.index);
        if (one != known_.arrays.end() && other != known_.arrays.end() && one->second == other->second)
            known_.counts[result.index] = {left, right};
    }
    const Fact a = fact(left), b = fact(right);
    if ((op == OpId::kAdd || op == OpId::kMultiply) && is_positive_unless_wrapped(left) &&
        is_positive_unless_wrapped(right))
        known_.positive_unless_wrapped.insert(result.index);
    const auto is_small = [](const Fact& known) { return known.least >= -kFar && known.most <= kFar; };
    Fact known;
    if (op == OpId::kAdd || op == OpId::kSubtract) {
        const bool adds = op == OpId::kAdd;
        const auto note_sum = [&](ValueId value, Wide least, Wide most) {
            const Sum sum = as_sum(value);
            if (fits(sum.least + least) && fits(sum.most + most))
                known_.sums[result.index] = {sum.base,
                                             static_cast<int64_t>(sum.least + least),
                                             static_cast<int64_t>(sum.most + most),
                                             sum.other,
                                             sum.subtracts,
                                             sum.less_other};
        };
        // The counter or a value of before the loop and another one of before it, one of which may be
        // subtracted.
        const auto note_pair = [&](ValueId moving, ValueId still, bool subtracts, bool less_other = false) {
            const Sum sum = as_sum(moving), added = as_sum(still);
            if (hoist_ == nullptr || sum.other.valid() || added.other.valid() ||
                (sum.base != hoist_->counter && sum.base.index >= hoist_->first) || added.subtracts ||
                added.base.index >= hoist_->first)
                return false;
            const Wide low = (less_other ? -static_cast<Wide>(added.most) : static_cast<Wide>(added.least)) +
                             (subtracts ? -static_cast<Wide>(sum.most) : static_cast<Wide>(sum.least));
            const Wide high = (less_other ? -static_cast<Wide>(added.least) : static_cast<Wide>(added.most)) +
                              (subtracts ? -static_cast<Wide>(sum.least) : static_cast<Wide>(sum.most));
            if (!fits(low) || !fits(high)) return false;
            known_.sums[result.index] = {sum.base,   static_cast<int64_t>(low),  static_cast<int64_t>(high),
                                         added.base, sum.subtracts != subtracts, less_other};
            return true;
        };
        if (is_small(b)) {
            note_sum(left, adds ? static_cast<Wide>(b.least) : -static_cast<Wide>(b.most),
                     adds ? static_cast<Wide>(b.most) : -static_cast<Wide>(b.least));
        } else if (adds && is_small(a)) {
            note_sum(right, a.least, a.most);
        } else if (!adds && is_small(a) && hoist_ != nullptr && as_sum(right).base == hoist_->counter &&
                   !as_sum(right).other.valid()) {
            // A known number less the counter: the number is as good as a value of before the loop.
            const Sum sum = as_sum(right);
            if (fits(static_cast<Wide>(a.least) - sum.most) && fits(static_cast<Wide>(a.most) - sum.least))
                known_.sums[result.index] = {sum.base, a.least - sum.most, a.most - sum.least, ValueId{},
                                             !sum.subtracts};
        } else if (!adds) {
            if (!note_pair(right, left, true)) note_pair(left, right, false, true);
        } else if (!note_pair(left, right, false)) {
            note_pair(right, left, false);
        }
        const Wide least =
            static_cast<Wide>(a.least) + (adds ? static_cast<Wide>(b.least) : -static_cast<Wide>(b.most));
        const Wide most =
            static_cast<Wide>(a.most) + (adds ? static_cast<Wide>(b.most) : -static_cast<Wide>(b.least));
        if (!fits(least) || !fits(most)) return;
        known.least = static_cast<int64_t>(least);
        known.most = static_cast<int64_t>(most);
        const auto take_bound = [&](const Fact& bounded, Wide more) {
            if (!bounded.below.valid() || !fits(bounded.offset + more)) return;
            known.below = bounded.below;
            known.offset = static_cast<int64_t>(bounded.offset + more);
        };
        if (adds) take_bound(b, a.most);
        take_bound(a, adds ? static_cast<Wide>(b.most) : -static_cast<Wide>(b.least));
    } else if (op == OpId::kMultiply) {
        const Wide corners[] = {static_cast<Wide>(a.least) * b.least, static_cast<Wide>(a.least) * b.most,
                                static_cast<Wide>(a.most) * b.least, static_cast<Wide>(a.most) * b.most};
        const Wide least = *std::min_element(std::begin(corners), std::end(corners));
        const Wide most = *std::max_element(std::begin(corners), std::end(corners));
        if (!fits(least) || !fits(most)) return;
        known = {static_cast<int64_t>(least), static_cast<int64_t>(most), {}, 0};
    } else if (op == OpId::kRemainder) {
        // Where a division by zero is no error, its rest is 0, which is not below the divisor.
        if (b.least < (stops_at_zero_ ? 0 : 1)) return;
        known = {0, b.most - 1, right, 0};
    } else if (op == OpId::kFloorDivide) {
        if (b.least <= 0 || a.least < 0) return;
        known = {a.least / b.most, a.most / b.least, a.below, a.offset};
        if (a.offset > 0) known.below = {};
    } else if (op == OpId::kMinimum) {
        known = {std::min(a.least, b.least), std::min(a.most, b.most), a.below, a.offset};
        if (!known.below.valid()) {
            known.below = b.below;
            known.offset = b.offset;
        }
    } else if (op == OpId::kMaximum) {
        known = {std::max(a.least, b.least), std::max(a.most, b.most), {}, 0};
        if (a.below.valid() && a.below == b.below) {
            known.below = a.below;
            known.offset = std::max(a.offset, b.offset);
        }
    } else {
        return;
    }
    note(result, known);
    if (op == OpId::kMaximum) known_.not_below[result.index] = a.least == a.most ? right : left;
    if (op == OpId::kMaximum) {
        const Outcome::Side sides[] = {side_of(left), side_of(right)};
        for (const Upper& upper : common_uppers(result, sides, result.index)) add_upper(upper);
    }
    if (op == OpId::kMinimum) {
        for (const ValueId each : {left, right}) add_upper({result, each, 1});
    }
    if (op == OpId::kFloorDivide) {
        for (const ValueId factor : factors_below(left, right)) add_upper({result, factor, 0});
    }
}

// What a number that is not negative is less than once it is divided: it is below all elements of an array
// of two axes, and one of these is the divisor.
std::vector<ValueId> Facts::factors_below(ValueId number, ValueId divisor) const {
    std::vector<ValueId> found;
    for (const Upper& upper : uppers_of(number)) {
        const auto count = known_.counts.find(upper.below.index);
        if (upper.offset > 0 || count == known_.counts.end()) continue;
        const auto& [rows, columns] = count->second;
        if (known_.is_same(divisor, columns))
            found.push_back(rows);
        else if (known_.is_same(divisor, rows))
            found.push_back(columns);
    }
    return found;
}

bool Facts::is_positive_unless_wrapped(ValueId value) const {
    return fact(value).least >= 0 || known_.positive_unless_wrapped.contains(value.index);
}

Sum Facts::as_sum(ValueId value) const {
    const auto found = known_.sums.find(value.index);
    return found == known_.sums.end() ? Sum{value, 0, 0} : found->second;
}

// The sum itself, not modulo 2**64; `only_below`: or less than it.
bool Facts::is_exact(const Sum& sum, bool only_below) const {
    const Fact known = fact(sum.base);
    const Wide least = sum.subtracts ? -static_cast<Wide>(known.most) : static_cast<Wide>(known.least);
    const Wide most = sum.subtracts ? -static_cast<Wide>(known.least) : static_cast<Wide>(known.most);
    return !sum.other.valid() && is_near(sum.least) && is_near(sum.most) && fits(least + sum.least) &&
           (only_below || fits(most + sum.most));
}

bool Facts::is_in_bounds(ValueId index, ValueId size) const {
    constexpr int kMostSteps = 64, kDeepest = 4;
    int steps = kMostSteps;
    return fact(index).least >= 0 && is_below(index, size, 0, kDeepest, steps);
}

// value < limit + offset, by what the value is less than, and what that is.
bool Facts::is_below(ValueId value, ValueId limit, Wide offset, int depth, int& steps) const {
    if (known_.is_same(value, limit)) return offset > 0;
    if (static_cast<Wide>(fact(value).most) < static_cast<Wide>(fact(limit).least) + offset) return true;
    const auto larger = known_.not_below.find(limit.index);
    const std::vector<Upper> uppers = uppers_of(value);
    const bool is_told = std::any_of(uppers.begin(), uppers.end(), [&](const Upper& upper) {
        const bool is_limit = known_.is_same(upper.below, limit) ||
                              (larger != known_.not_below.end() && upper.below == larger->second);
        return is_limit && upper.offset <= offset;
    });
    if (is_told) return true;
    if (depth == 0) return false;
    return std::any_of(uppers.begin(), uppers.end(), [&](const Upper& upper) {
        return upper.below != value && steps-- > 0 &&
               is_below(upper.below, limit, offset - upper.offset + 1, depth - 1, steps);
    });
}

}  // namespace weft::lang
