#include "lowering/short_rows.h"

#include <algorithm>
#include <array>
#include <bit>

namespace weft {

using ir::Builder;
using ir::ValueId;
using Values = std::vector<ValueId>;

NeutralElement neutral_of_row(const ReductionForm& reduction) {
    // Nothing but a sum of -0 alone is changed by +0, and a sum of +0 and anything is none.
    if (reduction.info->combine == OpId::kAdd) return NeutralElement::kWithResult;
    const DType compute(reduction.compute);
    const bool is_defined = reduction.info->combine == OpId::kDefined;
    return is_defined || compute.is_complex() || reduction.info->gives_index ? NeutralElement::kWithEach
                                                                             : NeutralElement::kNowhere;
}

Values reduce_short_row(Builder& builder, int64_t count, int64_t lanes, std::span<const ValueId> initials,
                        std::span<const NeutralElement> neutral, const ElementValues& element,
                        const Builder::Body& combine) {
    const auto combined = [&](const Values& left, const Values& right) {
        Values arguments = left;
        arguments.insert(arguments.end(), right.begin(), right.end());
        return combine(builder, arguments);
    };
    const auto with_neutral = [&](const Values& values, NeutralElement where) {
        if (std::find(neutral.begin(), neutral.end(), where) == neutral.end()) return values;
        Values result = combined(Values(initials.begin(), initials.end()), values);
        for (size_t k = 0; k < result.size(); ++k) {
            if (neutral[k] != where) result[k] = values[k];
        }
        return result;
    };
    std::vector<Values> parts;
    for (int64_t k = 0; k < count; ++k) {
        Values values = element(builder.index(k));
        if (lanes > 1 || k == 0) values = with_neutral(values, NeutralElement::kWithEach);
        if (lanes == 1 && k > 0) {
            parts[0] = combined(parts[0], values);
        } else {
            parts.push_back(std::move(values));
        }
    }
    int64_t width = static_cast<int64_t>(parts.size());
    for (int64_t half = lanes / 2; half >= 1; half /= 2) {
        for (int64_t k = 0; k < width - half; ++k) {
            const auto at = static_cast<size_t>(k), other = static_cast<size_t>(k + half);
            parts[at] = combined(parts[at], parts[other]);
        }
        width = std::min(width, half);
    }
    return with_neutral(parts[0], NeutralElement::kWithResult);
}

Values find_extreme_of_short_row(Builder& builder, const ReductionForm& reduction, int64_t count,
                                 const ElementValues& element) {
    const bool has_nan = DType::of(reduction.compute).is_inexact();
    ValueId best = element(builder.index(0))[0], place = builder.index(0);
    for (int64_t k = 1; k < count; ++k) {
        const ValueId next = element(builder.index(k))[0];
        ValueId take = builder.apply(op_info(reduction.info->combine), std::array{next, best});
        if (has_nan) {
            const ValueId none_yet = builder.apply(OpId::kLogicalNot, {builder.apply(OpId::kIsnan, {best})});
            const ValueId first_nan =
                builder.apply(OpId::kLogicalAnd, {builder.apply(OpId::kIsnan, {next}), none_yet});
            take = builder.apply(OpId::kLogicalOr, {take, first_nan});
        }
        best = builder.apply(OpId::kSelect, {take, next, best});
        place = builder.apply(OpId::kSelect, {take, builder.index(k), place});
    }
    return {best, place};
}

}  // namespace weft
