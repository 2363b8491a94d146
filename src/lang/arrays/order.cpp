// The order in which elements lie in memory: what numpy.nditer goes along, and joined arrays take over.
#include <algorithm>
#include <utility>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

// NumPy's insertion sort of dimensions by the strides of several arrays. `compare` says of two whether the
// arrays tell their order, and whether the first has to stand before the second.
void FunctionLowering::sort_axes(
    std::vector<Axis>& axes,
    const std::function<std::pair<ValueId, ValueId>(const Axis& one, const Axis& before)>& compare) {
    const auto choose = [&](ValueId condition, ValueId yes, ValueId no) {
        return builder_->apply(OpId::kSelect, {condition, yes, no});
    };
    const auto both = [&](ValueId a, ValueId b) { return builder_->apply(OpId::kLogicalAnd, {a, b}); };
    const auto index = [&](size_t number) { return integer(static_cast<int64_t>(number)).parts[0]; };
    for (size_t from = 1; from < axes.size(); ++from) {
        ValueId place = index(from), goes_on = boolean(true).parts[0];
        for (size_t k = from; k-- > 0;) {
            const auto [told, precedes] = compare(axes[from], axes[k]);
            place = choose(both(both(goes_on, told), precedes), index(k), place);
            const ValueId stays = both(told, builder_->apply(OpId::kLogicalNot, {precedes}));
            goes_on = both(goes_on, builder_->apply(OpId::kLogicalNot, {stays}));
        }
        std::vector<Axis> moved(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(from) + 1);
        for (size_t p = 0; p <= from; ++p) {
            const ValueId is_before = builder_->apply(OpId::kLess, {index(p), place});
            const ValueId is_place = builder_->apply(OpId::kEqual, {index(p), place});
            for (size_t c = 0; c < axes[p].size(); ++c) {
                const ValueId shifted = p > 0 ? axes[p - 1][c] : axes[p][c];
                moved[p][c] = choose(is_before, axes[p][c], choose(is_place, axes[from][c], shifted));
            }
        }
        std::copy(moved.begin(), moved.end(), axes.begin());
    }
}

// As the strides of several arrays tell it: by the first that does, unless another tells the order of C.
std::pair<ValueId, ValueId> FunctionLowering::order_of(std::span<const StridesOfTwo> arrays) {
    ValueId told = boolean(false).parts[0], precedes = told;
    const auto choose = [&](ValueId condition, ValueId yes, ValueId no) {
        return builder_->apply(OpId::kSelect, {condition, yes, no});
    };
    for (const StridesOfTwo& array : arrays) {
        const ValueId is_other =
            builder_->apply(OpId::kLess, {builder_->apply(OpId::kAbsolute, {array.first}),
                                          builder_->apply(OpId::kAbsolute, {array.second})});
        const ValueId decided = builder_->apply(
            OpId::kLogicalAnd,
            {is_other,
             builder_->apply(OpId::kLogicalOr, {precedes, builder_->apply(OpId::kLogicalNot, {told})})});
        precedes = choose(array.counts, decided, precedes);
        told = builder_->apply(OpId::kLogicalOr, {told, array.counts});
    }
    return {told, precedes};
}

// numpy.nditer(a), numpy.nditer((a, b)): elements in the order of memory, as arrays without dimensions.
Value FunctionLowering::call_iterator(const Arguments& arguments) {
    expect_arguments("nditer", arguments, 1, 1);
    const NodeId where = arguments.where;
    std::vector<Value> items;
    const Value& given = arguments.positional[0];
    if (given.type->kind == TypeKind::kTuple) {
        for (size_t i = 0; i < given.type->parts.size(); ++i) items.push_back(tuple_item(given, i));
    } else {
        items.push_back(given);
    }
    for (Value& item : items) {
        item = required(item, where);
        if (item.type->kind == TypeKind::kNever) return never();
        if (is_scalar(item.type)) item = array_of(item, std::nullopt, where);
        if (!is_array(item.type))
            fail(where,
                 "nditer() takes an array or a tuple of arrays here, not " + lang::describe(item.type));
    }
    if (items.empty()) fail(where, "Must provide at least one operand");
    return together("nditer", std::move(items));
}

FunctionLowering::Sequence FunctionLowering::iterator_sequence(const Value& items, NodeId where) {
    std::vector<Value> arrays;
    for (size_t i = 0; i < items.type->parts.size(); ++i) arrays.push_back(tuple_item(items, i));
    const auto element_type = [](const Value& array) {
        return array_type(array.type->scalar, 0, false, true, array.type->scope, array.type->owned);
    };
    const std::vector<ValueId> shape = broadcast_shape(arrays, where);
    // An axis is its size, then a stride for each array; the one that changes first comes first.
    std::vector<Axis> axes;
    std::vector<ValueId> offsets(arrays.size());
    ValueId count{};
    if (!dry_) {
        const ValueId zero = integer(0).parts[0], one = integer(1).parts[0];
        const auto choose = [&](ValueId condition, ValueId yes, ValueId no) {
            return builder_->apply(OpId::kSelect, {condition, yes, no});
        };
        count = one;
        for (size_t d = shape.size(); d-- > 0;) {
            Axis axis{shape[d]};
            for (const Value& array : arrays) {
                const size_t missing = shape.size() - array.type->rank;
                if (d < missing) {
                    axis.push_back(zero);
                    continue;
                }
                const ValueId is_one = builder_->apply(OpId::kEqual, {size_of(array, d - missing), one});
                axis.push_back(choose(is_one, zero, stride_of(array, d - missing)));
            }
            axes.push_back(std::move(axis));
            count = builder_->apply(OpId::kMultiply, {count, shape[d]});
        }
        check(builder_->apply(OpId::kGreater, {count, zero}),
              site("ValueError", "Iteration of zero-sized operands is not enabled"), {}, where);
        sort_axes(axes, [&](const Axis& one_axis, const Axis& before) {
            std::vector<StridesOfTwo> strides;
            for (size_t i = 1; i < one_axis.size(); ++i) {
                const ValueId counts =
                    builder_->apply(OpId::kLogicalAnd, {builder_->apply(OpId::kNotEqual, {one_axis[i], zero}),
                                                        builder_->apply(OpId::kNotEqual, {before[i], zero})});
                strides.push_back({counts, one_axis[i], before[i]});
            }
            return order_of(strides);
        });
        std::fill(offsets.begin(), offsets.end(), zero);
        for (Axis& axis : axes) {  // those along which no array goes up are gone along backwards
            ValueId least = zero, most = zero;
            for (size_t i = 1; i < axis.size(); ++i) {
                least = builder_->apply(OpId::kMinimum, {least, axis[i]});
                most = builder_->apply(OpId::kMaximum, {most, axis[i]});
            }
            const ValueId turns = builder_->apply(
                OpId::kLogicalAnd,
                {builder_->apply(OpId::kLess, {least, zero}), builder_->apply(OpId::kEqual, {most, zero})});
            const ValueId last = builder_->apply(OpId::kSubtract, {axis[0], one});
            for (size_t i = 1; i < axis.size(); ++i) {
                const ValueId end = builder_->apply(OpId::kMultiply, {last, axis[i]});
                offsets[i - 1] = builder_->apply(OpId::kAdd, {offsets[i - 1], choose(turns, end, zero)});
                axis[i] = choose(turns, builder_->apply(OpId::kNegative, {axis[i]}), axis[i]);
            }
        }
    }
    Sequence result;
    result.count = [count] { return count; };
    result.element = [this, arrays, axes, offsets, element_type](ValueId k) {
        std::vector<ValueId> at = offsets;
        for (size_t p = 0; p < axes.size(); ++p) {
            const bool is_last = p + 1 == axes.size();
            const ValueId index = is_last ? k : apply(OpId::kRemainder, {k, axes[p][0]});
            if (!is_last) k = apply(OpId::kFloorDivide, {k, axes[p][0]});
            for (size_t i = 0; i < at.size(); ++i)
                at[i] = apply(OpId::kAdd, {at[i], apply(OpId::kMultiply, {index, axes[p][i + 1]})});
        }
        std::vector<Value> elements;
        for (size_t i = 0; i < arrays.size(); ++i)
            elements.push_back(view_as(arrays[i], element_type(arrays[i]), at[i], {}, {}));
        return elements.size() == 1 ? elements[0] : tuple(std::move(elements));
    };
    return result;
}

// The strides of an array that lies as those do that it is joined of; those of C where that is all the same.
// The last dimension of contiguous ones stays the last.
std::vector<ValueId> FunctionLowering::strides_like(std::span<const Value> arrays,
                                                    std::span<const ValueId> shape, int64_t itemsize,
                                                    bool contiguous) {
    const size_t sorted = shape.size() - (contiguous ? 1 : 0);
    std::vector<Axis> axes;  // the dimension, its size, and a size and a stride for each array
    const ValueId one = integer(1).parts[0];
    for (size_t d = 0; d < sorted; ++d) {
        Axis axis{integer(static_cast<int64_t>(d)).parts[0], shape[d]};
        for (const Value& array : arrays) {
            axis.push_back(size_of(array, d));
            axis.push_back(stride_of(array, d));
        }
        axes.push_back(std::move(axis));
    }
    sort_axes(axes, [&](const Axis& axis, const Axis& before) {
        std::vector<StridesOfTwo> strides;
        for (size_t i = 2; i < axis.size(); i += 2) {
            const ValueId counts =
                builder_->apply(OpId::kLogicalAnd, {builder_->apply(OpId::kNotEqual, {axis[i], one}),
                                                    builder_->apply(OpId::kNotEqual, {before[i], one})});
            strides.push_back({counts, before[i + 1], axis[i + 1]});  // the largest stride comes first
        }
        return order_of(strides);
    });
    std::vector<ValueId> strides(shape.size(), integer(0).parts[0]);
    ValueId bytes = integer(itemsize).parts[0];
    if (contiguous) {
        strides.back() = bytes;
        bytes = builder_->apply(OpId::kMultiply, {bytes, shape.back()});
    }
    for (size_t p = axes.size(); p-- > 0;) {
        for (size_t d = 0; d < sorted; ++d) {
            const ValueId is_it =
                builder_->apply(OpId::kEqual, {axes[p][0], integer(static_cast<int64_t>(d)).parts[0]});
            strides[d] = builder_->apply(OpId::kSelect, {is_it, bytes, strides[d]});
        }
        bytes = builder_->apply(OpId::kMultiply, {bytes, axes[p][1]});
    }
    return strides;
}

}  // namespace weft::lang
