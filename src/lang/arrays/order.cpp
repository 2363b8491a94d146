// The order in which elements lie in memory: what numpy.nditer goes along, and what arrays that are made of
// others take over.
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

// The strides of an array, or those that it will have once it is computed.
std::vector<ValueId> FunctionLowering::strides_of(const Value& array) {
    std::vector<ValueId> strides;
    if (array.deferred != nullptr && !array.type->ordered)
        return strides_by(axes_in_order(array.deferred->operands, array.deferred->shape),
                          item_size(array.type));
    strides.resize(array.type->rank);
    ValueId bytes = integer(item_size(array.type)).parts[0];
    for (size_t d = strides.size(); d-- > 0;) {
        strides[d] = array.deferred != nullptr ? bytes : stride_of(array, d);
        if (array.deferred != nullptr) bytes = builder_->apply(OpId::kMultiply, {bytes, size_of(array, d)});
    }
    return strides;
}

// The dimensions of what is computed of arrays, as they lie in memory: the one that changes first comes
// first. An axis is its number and its size, then its stride in each array, 0 where that is repeated, and in
// the others. `copies`: strides of 0 tell of an order, too.
std::vector<FunctionLowering::Axis> FunctionLowering::axes_in_order(std::span<const Value> operands,
                                                                    std::span<const ValueId> shape,
                                                                    std::span<const Value> others,
                                                                    bool copies) {
    const ValueId zero = integer(0).parts[0], one = integer(1).parts[0];
    std::vector<Axis> axes;
    for (size_t d = shape.size(); d-- > 0;)
        axes.push_back({integer(static_cast<int64_t>(d)).parts[0], shape[d]});
    const auto add = [&](const Value& array) {
        const std::vector<ValueId> strides = strides_of(array);
        const size_t missing = shape.size() - strides.size();
        for (size_t d = 0; d < shape.size(); ++d) {
            Axis& axis = axes[shape.size() - 1 - d];
            if (d < missing) {
                axis.push_back(zero);
                continue;
            }
            const ValueId is_one = builder_->apply(OpId::kEqual, {size_of(array, d - missing), one});
            axis.push_back(builder_->apply(OpId::kSelect, {is_one, zero, strides[d - missing]}));
        }
    };
    size_t count = 0;
    for (const Value& operand : operands) {
        if (!is_array(operand.type)) continue;
        add(operand);
        ++count;
    }
    for (const Value& other : others) add(other);
    sort_axes(axes, [&](const Axis& axis, const Axis& before) {
        std::vector<StridesOfTwo> strides;
        const ValueId nothing = copies ? one : zero;
        for (size_t i = 0; i < count; ++i) {
            const size_t at = copies ? 1 : i + 2;  // of the size or stride that tells
            const ValueId counts =
                builder_->apply(OpId::kLogicalAnd, {builder_->apply(OpId::kNotEqual, {axis[at], nothing}),
                                                    builder_->apply(OpId::kNotEqual, {before[at], nothing})});
            strides.push_back({counts, axis[i + 2], before[i + 2]});
        }
        return order_of(strides);
    });
    return axes;
}

// The strides of an array without gaps that lies along axes.
std::vector<ValueId> FunctionLowering::strides_by(std::span<const Axis> axes, int64_t itemsize) {
    ValueId bytes = integer(itemsize).parts[0];
    std::vector<ValueId> strides(axes.size(), bytes);
    for (const Axis& axis : axes) {
        for (size_t d = 0; d < strides.size(); ++d) {
            const ValueId is_it =
                builder_->apply(OpId::kEqual, {axis[0], integer(static_cast<int64_t>(d)).parts[0]});
            strides[d] = builder_->apply(OpId::kSelect, {is_it, bytes, strides[d]});
        }
        bytes = builder_->apply(OpId::kMultiply, {bytes, axis[1]});
    }
    return strides;
}

// A new array that lies along axes. `fill` gets it with its dimensions in the order of memory.
Value FunctionLowering::allocate_along(std::span<const Axis> axes, ScalarType element,
                                       std::span<const ValueId> shape, NodeId where,
                                       const std::function<void(const Value&)>& fill) {
    std::vector<ValueId> sizes(shape.size());
    for (size_t p = 0; p < axes.size(); ++p) {
        sizes[sizes.size() - 1 - p] = axes[p][1];
        note(axes[p][1], {0, int64_t{1} << 62, {}, 0});
    }
    const Value whole = allocate(element, sizes, where);
    fill(whole);
    const std::vector<ValueId> strides = dry_ ? sizes : strides_by(axes, item_size(whole.type));
    return view(whole, integer(0).parts[0], shape, strides, false);
}

// A new array that lies as another one, as NumPy's copies and results with order='K' do; `copies` as above.
Value FunctionLowering::allocate_as(const Value& array, ScalarType element, NodeId where, bool copies,
                                    const std::function<void(const Value&)>& fill) {
    std::vector<ValueId> shape;
    for (size_t d = 0; d < array.type->rank; ++d) shape.push_back(size_of(array, d));
    if (array.type->ordered) {
        const Value made = allocate(element, shape, where);
        fill(made);
        return made;
    }
    std::vector<Axis> axes;
    if (!dry_) axes = axes_in_order(std::span(&array, 1), shape, {}, copies);
    return allocate_along(axes, element, shape, where, fill);
}

// A new array that lies as what is computed of others.
Value FunctionLowering::allocate_for(std::span<const Value> operands, ScalarType element,
                                     std::span<const ValueId> shape, NodeId where) {
    if (are_ordered(operands)) return allocate(element, shape, where);
    std::vector<Axis> axes;
    if (!dry_) axes = axes_in_order(operands, shape);
    return allocate_along(axes, element, shape, where, [](const Value&) {});
}

// What was made as another array lies, in the order of C unless that lies as Fortran's arrays do.
Value FunctionLowering::in_one_order(const Value& made, const Value& like, NodeId where) {
    if (like.type->ordered) return made;
    std::vector<ValueId> shape;
    for (size_t d = 0; d < made.type->rank; ++d) shape.push_back(size_of(made, d));
    return one_of(
        where, lies_in_order(like, true).parts[0], [&] { return made; },
        [&] { return copied(made, shape, where); });
}

// The same elements in memory that lies as theirs.
Value FunctionLowering::copied_as_it_lies(const Value& array, ScalarType element, NodeId where) {
    const Value given = forced(array);
    if (given.type->ordered || dry_)
        return allocate_as(given, element, where, true,
                           [&](const Value& made) { copy_into(made, given, where); });
    std::vector<ValueId> shape;
    for (size_t d = 0; d < given.type->rank; ++d) shape.push_back(size_of(given, d));
    const std::vector<Axis> axes = axes_in_order(std::span(&given, 1), shape, std::span(&given, 1), true);
    return allocate_along(axes, element, shape, where, [&](const Value& made) {
        size_t next = 3;
        copy_into(made, along_axes(given, axes, made, next), where);
    });
}

// What is read in the order of axes, into an array whose dimensions are theirs. The strides of the arrays in
// it are those of the axes, from `next` on.
Value FunctionLowering::along_axes(const Value& value, std::span<const Axis> axes, const Value& target,
                                   size_t& next) {
    if (!is_array(value.type)) return value;
    std::vector<ValueId> sizes;
    for (size_t d = 0; d < axes.size(); ++d) sizes.push_back(size_of(target, d));
    if (value.deferred == nullptr) {
        std::vector<ValueId> strides;
        for (size_t p = axes.size(); p-- > 0;) strides.push_back(axes[p][next]);
        ++next;
        return view(value, integer(0).parts[0], sizes, strides, false);
    }
    DeferredArray moved = *value.deferred;
    for (Value& operand : moved.operands) operand = along_axes(operand, axes, target, next);
    moved.shape = sizes;
    Value result = value;
    std::copy(sizes.begin(), sizes.end(), result.parts.begin() + 2);
    result.deferred = std::make_shared<const DeferredArray>(std::move(moved));
    return result;
}

// A deferred array that lies as the arrays do of which it is computed.
Value FunctionLowering::forced_in_order(const Value& value) {
    DeferredArray deferred = *value.deferred;
    std::vector<Value> leaves;
    const std::function<void(DeferredArray&)> collect = [&](DeferredArray& of) {
        for (Value& operand : of.operands) {
            if (!is_array(operand.type)) continue;
            // What is repeated is computed once.
            if (operand.deferred != nullptr && operand.deferred->shape != deferred.shape)
                operand = forced(operand);
            if (operand.deferred == nullptr) {
                leaves.push_back(operand);
                continue;
            }
            DeferredArray inner = *operand.deferred;
            collect(inner);
            operand.deferred = std::make_shared<const DeferredArray>(std::move(inner));
        }
    };
    collect(deferred);
    const std::vector<Axis> axes = axes_in_order(deferred.operands, deferred.shape, leaves);
    size_t next = axes[0].size() - leaves.size();
    Value whole = value;
    whole.deferred = std::make_shared<const DeferredArray>(deferred);
    return allocate_along(axes, value.type->scalar, deferred.shape, deferred.where, [&](const Value& made) {
        compute_into(made, along_axes(whole, axes, made, next), {}, [] {});
    });
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
    std::vector<Axis> axes;
    std::vector<ValueId> offsets(arrays.size());
    ValueId count{};
    if (!dry_) {
        const ValueId zero = integer(0).parts[0], one = integer(1).parts[0];
        const auto choose = [&](ValueId condition, ValueId yes, ValueId no) {
            return builder_->apply(OpId::kSelect, {condition, yes, no});
        };
        count = one;
        for (const ValueId size : shape) count = builder_->apply(OpId::kMultiply, {count, size});
        check(builder_->apply(OpId::kGreater, {count, zero}),
              site("ValueError", "Iteration of zero-sized operands is not enabled"), {}, where);
        axes = axes_in_order(arrays, shape);
        std::fill(offsets.begin(), offsets.end(), zero);
        for (Axis& axis : axes) {  // those along which no array goes up are gone along backwards
            ValueId least = zero, most = zero;
            for (size_t i = 2; i < axis.size(); ++i) {
                least = builder_->apply(OpId::kMinimum, {least, axis[i]});
                most = builder_->apply(OpId::kMaximum, {most, axis[i]});
            }
            const ValueId turns = builder_->apply(
                OpId::kLogicalAnd,
                {builder_->apply(OpId::kLess, {least, zero}), builder_->apply(OpId::kEqual, {most, zero})});
            const ValueId last = builder_->apply(OpId::kSubtract, {axis[1], one});
            for (size_t i = 2; i < axis.size(); ++i) {
                const ValueId end = builder_->apply(OpId::kMultiply, {last, axis[i]});
                offsets[i - 2] = builder_->apply(OpId::kAdd, {offsets[i - 2], choose(turns, end, zero)});
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
            const ValueId index = is_last ? k : apply(OpId::kRemainder, {k, axes[p][1]});
            if (!is_last) k = apply(OpId::kFloorDivide, {k, axes[p][1]});
            for (size_t i = 0; i < at.size(); ++i)
                at[i] = apply(OpId::kAdd, {at[i], apply(OpId::kMultiply, {index, axes[p][i + 2]})});
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
