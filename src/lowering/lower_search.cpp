#include "lowering/lower_search.h"

#include <array>
#include <cstdint>

#include "library/loops/identities.h"

namespace weft {

using ir::Builder;
using ir::Constant;
using ir::ValueId;

namespace {

using Values = std::vector<ValueId>;

// Elements of which the extreme value is found at a time; only in the best block is it looked for where.
constexpr int64_t kExtremeBlock = 1024;
// Elements that are read before it is asked whether they decide: little to read in vain, and enough that
// asking costs nothing.
constexpr int64_t kDecidingBlock = 2048;

ValueId or_(Builder& b, ValueId left, ValueId right) { return b.apply(OpId::kLogicalOr, {left, right}); }
ValueId and_(Builder& b, ValueId left, ValueId right) { return b.apply(OpId::kLogicalAnd, {left, right}); }

}  // namespace

bool searches_by_blocks(const ReductionForm& reduction) {
    const ReductionId id = reduction.info->id;
    return id == ReductionId::kAny || id == ReductionId::kAll ||
           (reduction.info->gives_index && !DType::of(reduction.compute).is_complex());
}

Values find_extreme(Builder& b, const ReductionForm& reduction, int64_t lanes, ValueId count,
                    const ElementAt& element) {
    const bool inexact = DType::of(reduction.compute).is_inexact();
    const OpInfo& is_better = op_info(reduction.info->combine);
    const OpInfo& extreme =
        op_info(reduction.info->id == ReductionId::kArgmax ? OpId::kMaximum : OpId::kMinimum);
    const ValueId neutral = b.constant(neutral_element(*reduction.info, reduction.compute));
    const ValueId zero = b.index(0), length = b.index(kExtremeBlock);
    const auto length_from = [&](ValueId begin) {
        return b.apply(OpId::kMinimum, {b.apply(OpId::kSubtract, {count, begin}), length});
    };
    // Of equal blocks the first counts. Where none is better than the neutral element, all elements are equal
    // to it, and the first block is right.
    const Values best = b.for_loop(
        zero, count, length, Values{neutral, zero}, [&](Builder&, std::span<const ValueId> arguments) {
            const ValueId begin = arguments[0], value = arguments[1], place = arguments[2];
            const ValueId own = b.reduce(
                length_from(begin), Values{neutral}, lanes, 0,
                [&](Builder& inner, std::span<const ValueId> at) {
                    return Values{element(inner, inner.apply(OpId::kAdd, {begin, at[0]}))};
                },
                [&](Builder& inner, std::span<const ValueId> pair) {
                    return Values{inner.apply(extreme, pair)};
                })[0];
            ValueId take = b.apply(is_better, std::array{own, value});
            if (inexact) {
                const ValueId was_number = b.apply(OpId::kLogicalNot, {b.apply(OpId::kIsnan, {value})});
                take = or_(b, take, and_(b, b.apply(OpId::kIsnan, {own}), was_number));
            }
            return Values{b.apply(OpId::kSelect, {take, own, value}),
                          b.apply(OpId::kSelect, {take, begin, place})};
        });
    const ValueId none = b.constant(Constant::of(ScalarType::kInt32, INT32_MAX));
    const ValueId first = b.reduce(
        length_from(best[1]), Values{none}, lanes, 0,
        [&](Builder& inner, std::span<const ValueId> at) {
            const ValueId position = at[0];
            const ValueId value = element(inner, inner.apply(OpId::kAdd, {best[1], position}));
            ValueId found = inner.apply(OpId::kEqual, {value, best[0]});
            if (inexact) {
                found = or_(
                    inner, found,
                    and_(inner, inner.apply(OpId::kIsnan, {value}), inner.apply(OpId::kIsnan, {best[0]})));
            }
            return Values{
                inner.apply(OpId::kSelect, {found, inner.cast(position, ScalarType::kInt32), none})};
        },
        [](Builder& inner, std::span<const ValueId> pair) {
            return Values{inner.apply(OpId::kMinimum, {pair[0], pair[1]})};
        })[0];
    return {best[0], b.apply(OpId::kAdd, {best[1], b.cast(first, ScalarType::kInt64)})};
}

ValueId find_deciding(Builder& b, const ReductionForm& reduction, int64_t lanes, ValueId count,
                      const ElementAt& element) {
    const OpInfo& combine = op_info(reduction.info->combine);
    const ValueId neutral = b.constant(neutral_element(*reduction.info, reduction.compute));
    const ValueId length = b.index(kDecidingBlock);
    const Values last = b.while_loop(
        Values{b.index(0), neutral},
        [&](Builder&, std::span<const ValueId> state) {
            const ValueId is_left = b.apply(OpId::kLess, {state[0], count});
            const ValueId is_open = b.apply(OpId::kEqual, {state[1], neutral});
            return Values{and_(b, is_left, is_open), state[0], state[1]};
        },
        [&](Builder&, std::span<const ValueId> state) {
            const ValueId begin = state[0];
            const ValueId end = b.apply(OpId::kMinimum, {b.apply(OpId::kAdd, {begin, length}), count});
            const ValueId own = b.reduce(
                b.apply(OpId::kSubtract, {end, begin}), Values{neutral}, lanes, 0,
                [&](Builder& inner, std::span<const ValueId> at) {
                    return Values{element(inner, inner.apply(OpId::kAdd, {begin, at[0]}))};
                },
                [&](Builder& inner, std::span<const ValueId> pair) {
                    return Values{inner.apply(combine, pair)};
                })[0];
            return Values{end, own};
        });
    return last[1];
}

}  // namespace weft
