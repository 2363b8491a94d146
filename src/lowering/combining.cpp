#include "lowering/combining.h"

#include <array>

#include "ops/defined.h"

namespace weft {

using ir::Builder;
using ir::ValueId;
using Values = std::vector<ValueId>;

namespace {

// Which of two (value, index) pairs argmax keeps: the better value, a NaN before all, the first of
// equals.
Values better(Builder& b, const ReductionForm& reduction, ValueId left, ValueId left_index, ValueId right,
              ValueId right_index) {
    ValueId take = b.apply(op_info(reduction.info->combine), std::array{right, left});
    ValueId tie = b.apply(OpId::kEqual, {right, left});
    if (DType::of(reduction.compute).is_inexact()) {
        const ValueId right_nan = b.apply(OpId::kIsnan, {right}), left_nan = b.apply(OpId::kIsnan, {left});
        take =
            b.apply(OpId::kLogicalOr,
                    {take, b.apply(OpId::kLogicalAnd, {right_nan, b.apply(OpId::kLogicalNot, {left_nan})})});
        tie = b.apply(OpId::kLogicalOr, {tie, b.apply(OpId::kLogicalAnd, {right_nan, left_nan})});
    }
    const ValueId earlier = b.apply(OpId::kLess, {right_index, left_index});
    take = b.apply(OpId::kLogicalOr, {take, b.apply(OpId::kLogicalAnd, {tie, earlier})});
    return {b.apply(OpId::kSelect, {take, right, left}),
            b.apply(OpId::kSelect, {take, right_index, left_index})};
}

// Of two (count, mean, sum of squared distances) triples; see library/loops/reduction_order.h.
Values joined_deviations(Builder& b, std::span<const ValueId> left, std::span<const ValueId> right) {
    const ValueId both = b.apply(OpId::kAdd, {left[0], right[0]});
    const ValueId delta = b.apply(OpId::kSubtract, {right[1], left[1]});
    const ValueId part = b.apply(OpId::kDivide, {right[0], both});
    const ValueId mean = b.apply(OpId::kAdd, {left[1], b.apply(OpId::kMultiply, {delta, part})});
    const ValueId between = b.apply(OpId::kMultiply, {b.apply(OpId::kMultiply, {delta, delta}),
                                                      b.apply(OpId::kMultiply, {left[0], part})});
    return {both, mean, b.apply(OpId::kAdd, {b.apply(OpId::kAdd, {left[2], right[2]}), between})};
}

}  // namespace

Values combine_pair(Builder& b, const ReductionForm& reduction, std::span<const ValueId> left,
                    std::span<const ValueId> right) {
    if (reduction.info->gives_index) return better(b, reduction, left[0], left[1], right[0], right[1]);
    if (reduction.info->deviations && left.size() == 3) return joined_deviations(b, left, right);
    Values combined;
    for (size_t k = 0; k < left.size(); ++k)
        combined.push_back(b.apply(combining_operation(*reduction.info), std::array{left[k], right[k]}));
    return combined;
}

Values deviations_of_chunk(Builder& b, ValueId count, ValueId shift, std::span<const ValueId> sums) {
    const ValueId n = b.cast(count, ScalarType::kFloat64);
    const ValueId distance = b.apply(OpId::kDivide, {sums[0], n});
    const ValueId left = b.apply(OpId::kSubtract, {sums[1], b.apply(OpId::kMultiply, {sums[0], distance})});
    const ValueId zero = b.constant(ir::Constant::of(ScalarType::kFloat64, 0.0));
    return {n, b.apply(OpId::kAdd, {shift, distance}), b.apply(OpId::kMaximum, {left, zero})};
}

}  // namespace weft
