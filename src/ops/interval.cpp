#include "ops/interval.h"

#include <algorithm>

namespace weft {

namespace {

using Wide = __int128;

std::optional<Interval> of_one(RangeRule rule, Interval a) {
    switch (rule) {
        case RangeRule::kSame: return a;
        case RangeRule::kNegated: return Interval{-a.high, -a.low};
        case RangeRule::kAbsolute:
            return Interval{a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(a.high, -a.low)};
        default: return std::nullopt;
    }
}

Wide floor_quotient(Wide a, Wide b) {
    const Wide quotient = a / b;
    return a < 0 && quotient * b != a ? quotient - 1 : quotient;
}

std::optional<Interval> of_two(RangeRule rule, Interval a, Interval b) {
    switch (rule) {
        case RangeRule::kSum: return Interval{a.low + b.low, a.high + b.high};
        case RangeRule::kDifference: return Interval{a.low - b.high, a.high - b.low};
        case RangeRule::kProduct: {
            const Wide most = Wide{1} << 62;  // products of these fit
            if (a.low < -most || a.high > most || b.low < -most || b.high > most) return std::nullopt;
            const Wide corners[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
            return Interval{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
        }
        case RangeRule::kMinimum: return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
        case RangeRule::kMaximum: return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
        case RangeRule::kRemainder:
            if (b.low <= 0) return std::nullopt;
            if (a.low >= 0 && a.high < b.low) return a;
            return Interval{0, b.high - 1};
        case RangeRule::kQuotient:
            if (b.low <= 0) return std::nullopt;
            return Interval{floor_quotient(a.low, a.low < 0 ? b.low : b.high),
                            floor_quotient(a.high, a.high < 0 ? b.high : b.low)};
        case RangeRule::kBitsAnd:
            if (a.low < 0 && b.low < 0) return std::nullopt;
            return Interval{0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
        default: return std::nullopt;
    }
}

}  // namespace

std::optional<Interval> interval_of(DType type) {
    if (type.is_bool()) return Interval{0, 1};
    if (!type.is_integer()) return std::nullopt;
    const int bits = static_cast<int>(type.itemsize()) * 8;
    if (type.is_unsigned_integer()) return Interval{0, (Wide{1} << bits) - 1};
    return Interval{-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
}

std::optional<Interval> interval_of(const OpInfo& op, std::span<const Interval> operands) {
    const RangeRule rule = op.facts.range;
    if (operands.size() == 1) return of_one(rule, operands[0]);
    if (operands.size() == 2) return of_two(rule, operands[0], operands[1]);
    if (operands.size() != 3) return std::nullopt;
    const Interval a = operands[0], b = operands[1], c = operands[2];
    if (rule == RangeRule::kSelect) return Interval{std::min(b.low, c.low), std::max(b.high, c.high)};
    if (rule == RangeRule::kClip)
        return Interval{std::min(std::max(a.low, b.low), c.low), std::min(std::max(a.high, b.high), c.high)};
    return std::nullopt;
}

}  // namespace weft
