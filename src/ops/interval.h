// Between which values an integer lies, and how that of a result follows from those of the operands: by the
// rules of the op table (RangeRule).
#pragma once

#include <optional>
#include <span>

#include "ops/op.h"
#include "weft/dtype.h"

namespace weft {

/// Both ends belong to it. Wider than any integer of an array, so that sums of ends do not wrap around.
struct Interval {
    __int128 low, high;

    bool contains(const Interval& other) const { return low <= other.low && other.high <= high; }
    friend bool operator==(const Interval&, const Interval&) = default;
};

/// Of all values of a type; nothing for types that are no integers and not bool.
std::optional<Interval> interval_of(DType type);

/// Of the result of an operation on operands of such intervals, were it not to wrap around; nothing where the
/// rule of the operation does not tell.
std::optional<Interval> interval_of(const OpInfo& op, std::span<const Interval> operands);

}  // namespace weft
