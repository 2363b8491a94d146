// Indices that are products, quotients and longer sums of counters and of what is known before a loop: both
// ends of what they run through are computed before it, operation by operation. Shorter sums are
// facts/hoist.cpp's, whose conditions are fewer.
#include <algorithm>
#include <optional>
#include <utility>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// Two such numbers have a product of at most 2^60, and four such products a sum of at most 2^62.
constexpr int64_t kFactor = int64_t{1} << 30;
constexpr int64_t kTerm = int64_t{1} << 60;
constexpr int kDeepest = 8;

}  // namespace

// Whether `range_of` can compute the ends before the loop.
bool FunctionLowering::can_tell(ValueId value, const Hoist& hoist, int depth) const {
    if (value == hoist.counter) return true;
    if (const Fact known = fact(value); known.least == known.most) return true;
    if (builder_->function().type(value) != ir::Type::of(ScalarType::kInt64)) return false;
    if (hoist.is_before(value)) return true;
    if (depth == kDeepest) return false;
    for (const Hoist::Counter& inner : hoist.inside) {
        if (inner.counter == value)
            return can_tell(inner.lower, hoist, depth + 1) && can_tell(inner.upper, hoist, depth + 1);
    }
    const auto found = known_.operations.find(value.index);
    if (found == known_.operations.end()) return false;
    const auto& [op, left, right] = found->second;
    if (op == OpId::kFloorDivide) {
        const Fact divisor = fact(right);
        if (divisor.least != divisor.most || divisor.least <= 0) return false;
    }
    return can_tell(left, hoist, depth + 1) && can_tell(right, hoist, depth + 1);
}

// The least and the most that the value comes to while the loop runs. `need` gets what has to hold for that,
// besides.
std::optional<std::pair<ValueId, ValueId>> FunctionLowering::range_of(
    ValueId value, const Hoist& hoist, const std::function<void(ValueId)>& need) {
    using Range = std::pair<ValueId, ValueId>;
    const auto apply_to = [&](OpId op, ValueId left, ValueId right) {
        const ValueId result = builder_->apply(op, {left, right});
        if (builder_->function().type(result).scalar != ScalarType::kBool)
            note_operator(op, result, left, right);
        return result;
    };
    const auto keep_within = [&](const Range& range, int64_t limit) {
        if (fact(range.first).least < -limit)
            need(apply_to(OpId::kGreaterEqual, range.first, builder_->index(-limit)));
        if (fact(range.second).most > limit)
            need(apply_to(OpId::kLessEqual, range.second, builder_->index(limit)));
    };
    if (const Fact known = fact(value); known.least == known.most) {
        const ValueId number = integer(known.least).parts[0];
        return Range{number, number};
    }
    const auto between = [&](ValueId lower, ValueId upper) -> std::optional<Range> {
        const auto from = range_of(lower, hoist, need), to = range_of(upper, hoist, need);
        if (!from || !to) return std::nullopt;
        keep_within({to->second, to->second}, kTerm);
        return Range{from->first, apply_to(OpId::kSubtract, to->second, integer(1).parts[0])};
    };
    if (value == hoist.counter) return between(hoist.lower, hoist.upper);
    if (hoist.is_before(value)) return Range{value, value};
    for (const Hoist::Counter& inner : hoist.inside) {
        if (inner.counter == value) return between(inner.lower, inner.upper);
    }
    const auto found = known_.operations.find(value.index);
    if (found == known_.operations.end()) return std::nullopt;
    const auto [op, left, right] = found->second;
    const auto a = range_of(left, hoist, need), b = range_of(right, hoist, need);
    if (!a || !b) return std::nullopt;
    const bool is_point = a->first == a->second && b->first == b->second;
    const auto point = [&](ValueId end) { return Range{end, end}; };
    if (op == OpId::kFloorDivide) {
        const ValueId least = apply_to(op, a->first, b->first);
        return is_point ? point(least) : Range{least, apply_to(op, a->second, b->first)};
    }
    const bool multiplies = op == OpId::kMultiply;
    keep_within(*a, multiplies ? kFactor : kTerm);
    keep_within(*b, multiplies ? kFactor : kTerm);
    if (is_point) return point(apply_to(op, a->first, b->first));
    if (op == OpId::kAdd) return Range{apply_to(op, a->first, b->first), apply_to(op, a->second, b->second)};
    if (op == OpId::kSubtract)
        return Range{apply_to(op, a->first, b->second), apply_to(op, a->second, b->first)};
    if (fact(b->first).least >= 0 && b->first == b->second)  // also of a known number
        return Range{apply_to(op, a->first, b->first), apply_to(op, a->second, b->first)};
    if (fact(a->first).least >= 0 && a->first == a->second)
        return Range{apply_to(op, a->first, b->first), apply_to(op, a->first, b->second)};

    ValueId least{}, most{};
    for (const ValueId x : {a->first, a->second}) {
        for (const ValueId y : {b->first, b->second}) {
            const ValueId corner = apply_to(op, x, y);
            least = least.valid() ? apply_to(OpId::kMinimum, least, corner) : corner;
            most = most.valid() ? apply_to(OpId::kMaximum, most, corner) : corner;
        }
    }
    return Range{least, most};
}

// Lets the index be tested before the loop, if it can be.
bool FunctionLowering::hoist_range(ValueId index, ValueId size) {
    if (!can_tell(index, *hoist_)) return false;
    const Hoist::Range range{index, size};
    if (std::find(hoist_->ranges.begin(), hoist_->ranges.end(), range) == hoist_->ranges.end())
        hoist_->ranges.push_back(range);
    return true;
}

// What the loop around can test of this one's ranges is its own from now on.
void FunctionLowering::hoist_ranges_around(Hoist& inner, Hoist& around) const {
    Hoist both = around;
    both.inside.insert(both.inside.end(), inner.inside.begin(), inner.inside.end());
    both.inside.push_back({inner.counter, inner.lower, inner.upper});
    const size_t before = inner.ranges.size();
    std::erase_if(inner.ranges, [&](const Hoist::Range& range) {
        if (!around.is_before(range.size) || !can_tell(range.index, both)) return false;
        if (std::find(around.ranges.begin(), around.ranges.end(), range) == around.ranges.end())
            around.ranges.push_back(range);
        return true;
    });
    if (inner.ranges.size() != before) around.inside = std::move(both.inside);
}

// `need` gets what has to hold for all ranges to be in bounds.
void FunctionLowering::check_ranges(const Hoist& hoist, const std::function<void(ValueId)>& need) {
    for (const Hoist::Range& range : hoist.ranges) {
        const auto ends = range_of(range.index, hoist, need);
        if (!ends) {
            need(boolean(false).parts[0]);
            return;
        }
        if (fact(range.index).least < 0)
            need(builder_->apply(OpId::kGreaterEqual, {ends->first, builder_->index(0)}));
        need(builder_->apply(OpId::kLess, {ends->second, range.size}));
    }
}

}  // namespace weft::lang
