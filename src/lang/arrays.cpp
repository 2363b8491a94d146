// Arrays as values: their parts, views of them, and arrays that the function makes.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"
#include "lang/arrays/random.h"
#include "lang/containers/dicts.h"
#include "lang/containers/literal_lists.h"
#include "lang/containers/sets.h"
#include "lang/dates/dates.h"
#include "lang/kernels/kernels.h"
#include "lang/strings/strings.h"
#include "lang/structures/texts.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// Of all memory that functions allocate.
constexpr uint16_t kHeapScope = 1000;

}  // namespace

// --- parts ----------------------------------------------------------------------------------------------

ValueId FunctionLowering::size_of(const Value& array, size_t d) const {
    return array.parts[1 + (array.type->owned ? 1 : 0) + d];
}

ValueId FunctionLowering::stride_of(const Value& array, size_t d) {
    if (array.type->contiguous && d + 1 == array.type->rank) return integer(item_size(array.type)).parts[0];
    return array.parts[1 + (array.type->owned ? 1 : 0) + array.type->rank + d];
}

ValueId FunctionLowering::owner_of(const Value& array) const {
    return array.type->owned ? array.parts[1] : ValueId{};
}

// --- views ----------------------------------------------------------------------------------------------

Value FunctionLowering::view(const Value& array, ValueId byte_offset, std::span<const ValueId> shape,
                             std::span<const ValueId> strides, bool contiguous, bool ordered) {
    return view_as(array, with_rank(array.type, shape.size(), contiguous, ordered), byte_offset, shape,
                   strides);
}

// As one of `type`, whose scope and owner are the array's.
Value FunctionLowering::view_as(const Value& array, TypeRef type, ValueId byte_offset,
                                std::span<const ValueId> shape, std::span<const ValueId> strides) {
    Value result{type, {}, 0};
    if (dry_) {
        result.parts.resize(part_count(type));
        return result;
    }
    const std::span<const ValueId> dynamic = strides.first(shape.size() - (type->contiguous ? 1 : 0));
    result.parts.push_back(builder_->view(array.parts[0], buffer_type(type).buffer, byte_offset, dynamic));
    if (type->owned) result.parts.push_back(owner_of(array));
    result.parts.insert(result.parts.end(), shape.begin(), shape.end());
    result.parts.insert(result.parts.end(), dynamic.begin(), dynamic.end());
    return result;
}

Value FunctionLowering::transposed(const Value& array) {
    std::vector<ValueId> shape, strides;
    for (size_t d = array.type->rank; d-- > 0;) {
        shape.push_back(size_of(array, d));
        strides.push_back(stride_of(array, d));
    }
    if (array.type->rank < 2) return array;
    return view(array, integer(0).parts[0], shape, strides, false);
}

Value FunctionLowering::part_of_complex(const Value& array, bool imaginary) {
    const ScalarType real =
        array.type->scalar == ScalarType::kComplex64 ? ScalarType::kFloat32 : ScalarType::kFloat64;
    const TypeRef type = array_type(real, array.type->rank, false, array.type->readonly, array.type->scope,
                                    array.type->owned, array.type->ordered);
    std::vector<ValueId> shape, strides;
    for (size_t d = 0; d < type->rank; ++d) {
        shape.push_back(size_of(array, d));
        strides.push_back(stride_of(array, d));
    }
    const ValueId offset = integer(imaginary ? DType(real).itemsize() : 0).parts[0];
    return view_as(array, type, offset, shape, strides);
}

// The same bytes as elements of another type. Where those have another size, the last dimension has as many
// fewer or more.
Value FunctionLowering::viewed(const Value& array, ScalarType element, NodeId where) {
    const int64_t before = DType(array.type->scalar).itemsize(), after = DType(element).itemsize();
    const size_t rank = array.type->rank;
    if (before != after && rank == 0)
        fail(where,
             "Changing the dtype of a 0d array is only supported if the itemsize is unchanged, not to " +
                 std::string(DType(element).name()),
             "Convert it, as by .astype().");
    const bool contiguous = array.type->contiguous || (before != after && rank > 0);
    const TypeRef type = array_type(element, array.type->rank, contiguous, array.type->readonly,
                                    array.type->scope, array.type->owned, array.type->ordered);
    if (dry_) return {type, std::vector<ValueId>(part_count(type)), 0};
    Value result{type, array.parts, 0};
    if (before != after) {
        const auto number = [&](int64_t value) { return integer(value).parts[0]; };
        const ValueId is_row = builder_->apply(OpId::kEqual, {stride_of(array, rank - 1), number(before)});
        const ValueId is_short = builder_->apply(OpId::kLessEqual, {size_of(array, rank - 1), number(1)});
        check(
            builder_->apply(OpId::kLogicalOr, {is_row, is_short}),
            site("ValueError", "To change to a dtype of a different size, the last axis must be contiguous"),
            {}, where);
        const ValueId bytes = builder_->apply(OpId::kMultiply, {size_of(array, rank - 1), number(before)});
        const ValueId rest = builder_->apply(OpId::kRemainder, {bytes, number(after)});
        if (after > before)
            check(builder_->apply(OpId::kEqual, {rest, number(0)}),
                  site("ValueError",
                       "When changing to a larger dtype, its size must be a divisor of the total size in "
                       "bytes of "
                       "the last axis of the array."),
                  {}, where);
        result.parts.resize(part_count(type));
        result.parts[1 + (type->owned ? 1 : 0) + rank - 1] =
            builder_->apply(OpId::kFloorDivide, {bytes, number(after)});
    }
    ir::BufferType bytes = buffer_type(type).buffer;
    bytes.strides.clear();
    result.parts[0] = builder_->memory(bytes, builder_->address(array.parts[0]));
    return inside(result);
}

Value FunctionLowering::copied(const Value& array, std::span<const ValueId> shape, NodeId where) {
    const Value result = allocate(array.type, shape, where);
    copy_into(result, array, where);
    return result;
}

// By the order of Fortran's indices.
Value FunctionLowering::reshaped_as_fortran(const Value& array, std::vector<Value> sizes, NodeId where) {
    if (sizes.size() == 1 && sizes[0].type->kind == TypeKind::kTuple) {
        const Value whole = sizes[0];
        sizes.clear();
        for (size_t i = 0; i < whole.type->parts.size(); ++i) sizes.push_back(tuple_item(whole, i));
    }
    std::reverse(sizes.begin(), sizes.end());
    return transposed(reshaped(transposed(array), std::move(sizes), where));
}

// The only argument that is left, by its place or its name: order.
Value FunctionLowering::order_argument(const std::string& name, const Arguments& arguments, size_t place) {
    if (arguments.keywords.size() == 1 && arguments.keywords[0].first == "order")
        return arguments.keywords[0].second;
    expect_arguments(name, arguments, place, place + 1);
    return arguments.positional.size() > place ? arguments.positional[place] : none();
}

// Where strides may have any order: a view if there is one, else a copy.
Value FunctionLowering::reshaped_in_any_order(const Value& array, const std::vector<Value>& sizes,
                                              NodeId where) {
    std::vector<ValueId> shape;
    std::vector<Value> strides, wanted;
    for (size_t d = 0; d < array.type->rank; ++d) {
        shape.push_back(size_of(array, d));
        strides.push_back(scalar(scalar_type(ScalarType::kInt64, true), stride_of(array, d)));
    }
    for (const Value& size : sizes)
        wanted.push_back(scalar(scalar_type(ScalarType::kInt64, true), as_index(size, where)));
    const Value found = call_prelude(
        "shapes.reshaped_view", {{shape_of(array), tuple(std::move(strides)), tuple(wanted)}, {}, where});
    const auto number = [&](size_t k) {
        return load({found, {integer(static_cast<int64_t>(k)).parts[0]}}).parts[0];
    };
    const ValueId is_view = apply(OpId::kNotEqual, {dry_ ? ValueId{} : number(0), integer(0).parts[0]});
    const auto view_of_it = [&] {
        std::vector<ValueId> parts[2];
        for (size_t k = 0; k < 2 * sizes.size(); ++k)
            parts[k / sizes.size()].push_back(dry_ ? ValueId{} : number(1 + k));
        for (const ValueId size : parts[0]) note(size, {0, int64_t{1} << 62, {}, 0});
        return view(array, integer(0).parts[0], parts[0], parts[1], false);
    };
    return one_of(where, is_view, view_of_it,
                  [&] { return reshaped(copied(array, shape, where), wanted, where); });
}

// The same memory with other sizes, of which one may be -1. It has to lie element by element, or its strides
// may have any order.
Value FunctionLowering::reshaped(const Value& array, std::vector<Value> sizes, NodeId where, bool lies) {
    if (sizes.size() == 1 && sizes[0].type->kind == TypeKind::kTuple) {
        const Value whole = sizes[0];
        sizes.clear();
        for (size_t i = 0; i < whole.type->parts.size(); ++i) sizes.push_back(tuple_item(whole, i));
    }
    if (!array.type->ordered && !lies && !sizes.empty()) return reshaped_in_any_order(array, sizes, where);
    std::vector<ValueId> shape, strides;
    for (const Value& size : sizes) shape.push_back(as_index(size, where));
    if (dry_) return view(array, {}, shape, shape, true, true);
    const ValueId one = integer(1).parts[0], zero = integer(0).parts[0];
    const auto multiply = [&](ValueId a, ValueId b) { return builder_->apply(OpId::kMultiply, {a, b}); };
    const auto is_equal = [&](ValueId a, ValueId b) { return builder_->apply(OpId::kEqual, {a, b}); };
    const auto either = [&](ValueId a, ValueId b) { return builder_->apply(OpId::kLogicalOr, {a, b}); };
    ValueId total = one, known = one, unknown = zero;
    ValueId expected = integer(DType(array.type->scalar).itemsize()).parts[0], fits = boolean(true).parts[0];
    for (size_t d = array.type->rank; d-- > 0;) {
        const ValueId size = size_of(array, d);
        const ValueId lies = either(is_equal(size, one), is_equal(stride_of(array, d), expected));
        fits = builder_->apply(OpId::kLogicalAnd, {fits, lies});
        expected = multiply(expected, size);
        total = multiply(total, size);
    }
    check(either(fits, is_equal(total, zero)),
          site("ValueError",
               "reshape() of an array whose elements do not lie one behind the other: copy it before"),
          {}, where);
    const ValueId minus_one = integer(-1).parts[0];
    ValueId negative = boolean(false).parts[0];
    for (const ValueId size : shape) {
        const ValueId is_unknown = is_equal(size, minus_one);
        unknown = builder_->apply(OpId::kAdd, {unknown, builder_->cast(is_unknown, ScalarType::kInt64)});
        negative = either(negative, builder_->apply(OpId::kLess, {size, minus_one}));
        known = multiply(known, builder_->apply(OpId::kSelect, {is_unknown, one, size}));
    }
    check(builder_->apply(OpId::kLessEqual, {unknown, one}),
          site("ValueError", "can only specify one unknown dimension"), {}, where);
    // 0 where the rest is not known: NumPy does not take that for an unknown size either.
    const ValueId divisor = builder_->apply(OpId::kSelect, {is_equal(known, zero), one, known});
    const ValueId rest = builder_->apply(OpId::kFloorDivide, {total, divisor});
    const ValueId filled = builder_->apply(OpId::kSelect, {is_equal(unknown, one), rest, one});
    const ValueId holds = builder_->apply(
        OpId::kLogicalAnd,
        {is_equal(multiply(known, filled), total), builder_->apply(OpId::kLogicalNot, {negative})});
    Site wrong = site("ValueError", "cannot reshape an array of size {} into this shape");
    wrong.text = "cannot reshape array into this shape: it has another number of elements";
    check(holds, std::move(wrong), {}, where);
    for (ValueId& size : shape) {
        size = builder_->apply(OpId::kSelect, {is_equal(size, minus_one), rest, size});
        note(size, {0, int64_t{1} << 62, {}, 0});
    }
    strides.resize(shape.size());
    ValueId bytes = integer(DType(array.type->scalar).itemsize()).parts[0];
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = bytes;
        bytes = multiply(bytes, shape[d]);
    }
    return view(array, zero, shape, strides, !shape.empty(), true);
}

Value FunctionLowering::item_of(const Value& array, ValueId index) {
    if (array.type->rank == 1) return load({array, {index}});
    std::vector<ValueId> shape, strides;
    for (size_t d = 1; d < array.type->rank; ++d) {
        shape.push_back(size_of(array, d));
        strides.push_back(stride_of(array, d));
    }
    return view(array, apply(OpId::kMultiply, {index, stride_of(array, 0)}), shape, strides,
                array.type->contiguous, array.type->ordered);
}

// The same where the step is not known before.
FunctionLowering::Range FunctionLowering::any_slice_range(const Value& slice, ValueId size, NodeId where) {
    const auto given_or = [&](size_t k, ValueId otherwise) {
        const Value bound = tuple_item(slice, k);
        if (bound.type->kind == TypeKind::kNone) return otherwise;
        if (bound.type->kind != TypeKind::kOptional) return as_index(bound, where);
        const ValueId value =
            as_index({bound.type->parts[0], {bound.parts.begin() + 1, bound.parts.end()}}, where);
        return apply(OpId::kSelect, {bound.parts[0], value, otherwise});
    };
    const ValueId step = given_or(2, integer(1).parts[0]);
    if (dry_) return {};
    const auto number = [&](int64_t value) { return integer(value).parts[0]; };
    const auto choose = [&](ValueId condition, ValueId yes, ValueId no) {
        return builder_->apply(OpId::kSelect, {condition, yes, no});
    };
    check(builder_->apply(OpId::kNotEqual, {step, number(0)}),
          site("ValueError", "slice step cannot be zero"), {}, where);
    const ValueId up = builder_->apply(OpId::kGreater, {step, number(0)});
    const ValueId before_end = builder_->apply(OpId::kSubtract, {size, number(1)});
    const ValueId low = choose(up, number(0), number(-1)), high = choose(up, size, before_end);
    const auto bound = [&](size_t k, ValueId otherwise) {
        const Value item = tuple_item(slice, k);
        if (item.type->kind == TypeKind::kNone) return otherwise;
        const ValueId given = given_or(k, number(0));
        const ValueId from_end = builder_->apply(OpId::kAdd, {given, size});
        const ValueId at = choose(builder_->apply(OpId::kLess, {given, number(0)}), from_end, given);
        const ValueId moved =
            builder_->apply(OpId::kMinimum, {builder_->apply(OpId::kMaximum, {at, low}), high});
        return item.type->kind == TypeKind::kOptional ? choose(item.parts[0], moved, otherwise) : moved;
    };
    const ValueId start = bound(0, choose(up, low, high)), stop = bound(1, choose(up, high, low));
    const ValueId distance = choose(up, builder_->apply(OpId::kSubtract, {stop, start}),
                                    builder_->apply(OpId::kSubtract, {start, stop}));
    // As an unsigned number, so that the least of all has a magnitude.
    const auto unsigned_of = [&](ValueId value) { return builder_->cast(value, ScalarType::kUInt64); };
    const ValueId by = unsigned_of(choose(up, step, builder_->apply(OpId::kNegative, {step})));
    const ValueId one = builder_->constant(Constant::of(ScalarType::kUInt64, uint64_t{1}));
    const ValueId steps = builder_->apply(
        OpId::kAdd, {builder_->apply(OpId::kFloorDivide,
                                     {builder_->apply(OpId::kSubtract, {unsigned_of(distance), one}), by}),
                     one});
    const ValueId count = choose(builder_->apply(OpId::kGreater, {distance, number(0)}),
                                 builder_->cast(steps, ScalarType::kInt64), number(0));
    note(count, {0, int64_t{1} << 62, {}, 0});
    return {start, count, step};
}

// The elements that NumPy's slice takes: bounds beyond the ends are moved to the ends.
FunctionLowering::Range FunctionLowering::slice_range(const Value& slice, ValueId size, NodeId where) {
    const Value step = is_whole(slice) ? integer(1) : tuple_item(slice, 2);
    const std::optional<int64_t> known_step = literal_integer(step.type);
    const bool may_be_none = std::any_of(slice.type->parts.begin(), slice.type->parts.end(),
                                         [](TypeRef bound) { return bound->kind == TypeKind::kOptional; });
    if (!known_step || may_be_none) return any_slice_range(slice, size, where);
    if (*known_step == 0) fail(where, "slice step cannot be zero");
    const bool up = *known_step > 0;
    const auto number = [&](int64_t value) { return integer(value).parts[0]; };
    const ValueId first = number(up ? 0 : -1);
    const ValueId last = up ? size : apply(OpId::kSubtract, {size, number(1)});
    const auto bound = [&](size_t k, ValueId otherwise) {
        const Value given = tuple_item(slice, k);
        if (given.type->kind == TypeKind::kNone) return otherwise;
        const ValueId value = as_index(given, where);
        if (dry_) return ValueId{};
        const Fact known = fact(value);
        ValueId at = value;
        if (known.least < 0) {
            const ValueId from_end = builder_->apply(OpId::kAdd, {value, size});
            at = builder_->apply(OpId::kSelect,
                                 {builder_->apply(OpId::kLess, {value, number(0)}), from_end, value});
            at = builder_->apply(OpId::kMaximum, {at, first});
        }
        const ValueId result = builder_->apply(OpId::kMinimum, {at, last});
        note(result, {up ? 0 : -1, INT64_MAX, size, 1});
        return result;
    };
    const ValueId start = bound(0, up ? first : last);
    const ValueId stop = bound(1, up ? last : first);
    if (dry_) return {};
    const ValueId distance = up ? builder_->apply(OpId::kSubtract, {stop, start})
                                : builder_->apply(OpId::kSubtract, {start, stop});
    const int64_t by = up ? *known_step : -*known_step;
    ValueId count = distance;
    if (by != 1) {
        const ValueId rounded = builder_->apply(OpId::kAdd, {distance, number(by - 1)});
        count = builder_->apply(OpId::kFloorDivide, {rounded, number(by)});
    }
    // a[k:] of a known k >= 0 keeps what is known of the size.
    count = builder_->apply(OpId::kMaximum, {count, number(0)});
    note(count, {0, INT64_MAX, size, 1});
    return {start, count, *known_step == 1 ? ValueId{} : step.parts[0]};
}

Value FunctionLowering::sliced(NodeId id, const Value& base, std::span<const IndexItem> items) {
    size_t taken = 0;
    for (const IndexItem& item : items) {
        const TypeKind kind = item.value.type->kind;
        if (kind != TypeKind::kNone && kind != TypeKind::kEllipsis) ++taken;
    }
    const size_t rank = base.type->rank;
    if (taken > rank) refuse_many_indices(rank, taken, id);
    std::vector<ValueId> shape, strides;
    ValueId offset = integer(0).parts[0];
    size_t d = 0;
    bool contiguous = false;
    const auto whole = [&] {
        shape.push_back(size_of(base, d));
        strides.push_back(stride_of(base, d));
        contiguous = base.type->contiguous && d + 1 == rank;
        ++d;
    };
    bool has_ellipsis = false;
    for (const IndexItem& index_item : items) {
        const NodeId item = index_item.node;
        const Value& index = index_item.value;
        switch (index.type->kind) {
            case TypeKind::kEllipsis:
                if (std::exchange(has_ellipsis, true))
                    fail(item, "an index can only have a single ellipsis ('...')");
                for (size_t left = rank - taken; left > 0; --left) whole();
                break;
            case TypeKind::kNone:
                shape.push_back(integer(1).parts[0]);
                strides.push_back(integer(0).parts[0]);
                contiguous = false;
                break;
            case TypeKind::kSlice: {
                const Range range = slice_range(index, size_of(base, d), item);
                const ValueId stride = stride_of(base, d);
                offset = apply(OpId::kAdd, {offset, apply(OpId::kMultiply, {range.start, stride})});
                shape.push_back(range.count);
                const bool by_one = is_whole(index);
                strides.push_back(by_one || dry_ ? stride : apply(OpId::kMultiply, {stride, range.step}));
                contiguous = by_one && base.type->contiguous && d + 1 == rank;
                ++d;
                break;
            }
            default: {
                expect_index(index.type, item);
                const ValueId at = written_index(index, size_of(base, d), static_cast<int>(d), id);
                offset = apply(OpId::kAdd, {offset, apply(OpId::kMultiply, {at, stride_of(base, d)})});
                contiguous = false;
                ++d;
            }
        }
    }
    while (d < rank) whole();
    return view(base, offset, shape, strides, contiguous, base.type->ordered);
}

// --- arrays that are made -------------------------------------------------------------------------------

Value FunctionLowering::allocate(ScalarType element, std::span<const ValueId> sizes, NodeId where,
                                 std::optional<uint16_t> scope) {
    return allocate(array_type(element, 0, false, false, 0), sizes, where, scope);
}

Value FunctionLowering::allocate(TypeRef of_elements, std::span<const ValueId> sizes, NodeId where,
                                 std::optional<uint16_t> scope) {
    Type made = *with_rank(of_elements, sizes.size(), true, true);
    made.readonly = false;
    made.owned = true;
    made.scope = scope.value_or(compilation_.scopes().canonical(kHeapScope));
    const TypeRef type = intern(std::move(made));
    Value result{type, {}, 0, true};
    if (dry_) {
        result.parts.resize(part_count(type));
        return result;
    }
    const int64_t itemsize = item_size(type);
    // As floats the product of sizes cannot overflow.
    const auto real = [&](double value) {
        return builder_->constant(Constant::of(ScalarType::kFloat64, value));
    };
    ValueId elements = real(1);
    std::vector<ValueId> shape;
    for (ValueId size : sizes) {
        const Fact known = fact(size);
        shape.push_back(size);
        if (known.least < 0) {
            check(builder_->apply(OpId::kGreaterEqual, {size, integer(0).parts[0]}),
                  site("ValueError", "negative dimensions are not allowed"), {}, where);
            // What is known holds from here on only, so it is known of another value.
            shape.back() = builder_->apply(OpId::kMaximum, {size, integer(0).parts[0]});
            known_.not_below[shape.back().index] = size;
        }
        note(shape.back(), {std::max<int64_t>(known.least, 0), std::min(known.most, int64_t{1} << 48),
                            known.below, known.offset});
        const ValueId factor =
            builder_->apply(OpId::kMaximum, {builder_->cast(shape.back(), ScalarType::kFloat64), real(1)});
        elements = builder_->apply(OpId::kMultiply, {elements, factor});
    }
    constexpr double kMostBytes = 281474976710656.0;  // 2**48: no address space has more
    Site too_large = site("MemoryError", "an array of so many elements has no place in memory");
    too_large.kind = SiteKind::kTooLarge;
    const ValueId whole = builder_->apply(OpId::kMultiply, {elements, real(static_cast<double>(itemsize))});
    if (compilation_.catches()) {  // where errors are told apart by their class
        Site beyond = too_large;
        beyond.exception = "ValueError";
        check(builder_->apply(OpId::kLess, {whole, real(kBytesOfAll)}), std::move(beyond), {whole}, where);
    }
    check(builder_->apply(OpId::kLessEqual, {whole, real(kMostBytes)}), std::move(too_large), {whole}, where);
    std::vector<ValueId> strides(shape.size());
    ValueId bytes = integer(itemsize).parts[0];
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = bytes;
        bytes = builder_->apply(OpId::kMultiply, {bytes, shape[d]});
    }
    if (!strides.empty()) strides.pop_back();
    Site none = site("MemoryError", "there is no memory for an array");
    none.function = spot(where).function;
    none.node = spot(where).node;
    const ir::Builder::HeapBlock block =
        builder_->heap(buffer_type(type).buffer, bytes, strides, compilation_.add_site(std::move(none)));
    result.parts = {block.buffer, block.owner};
    result.parts.insert(result.parts.end(), shape.begin(), shape.end());
    result.parts.insert(result.parts.end(), strides.begin(), strides.end());
    add_temporary(result);
    return result;
}

void FunctionLowering::for_each_place(std::span<const ValueId> shape,
                                      const std::function<void(std::span<const ValueId>)>& body) {
    if (dry_) return body(std::vector<ValueId>(shape.size()));
    std::vector<ValueId> indices;
    const std::function<void()> level = [&] {
        const size_t d = indices.size();
        if (d == shape.size()) return body(indices);
        builder_->for_loop(builder_->index(0), shape[d], builder_->index(1), {},
                           [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                               const Nested nested(*this);
                               indices.push_back(arguments[0]);
                               level();
                               indices.pop_back();
                               return {};
                           });
    };
    level();
}

void FunctionLowering::for_each_element(const Value& array,
                                        const std::function<void(std::span<const ValueId>)>& body) {
    std::vector<ValueId> shape;
    for (size_t d = 0; d < array.type->rank; ++d) shape.push_back(size_of(array, d));
    for_each_place(shape, body);
}

void FunctionLowering::fill(const Value& array, const Value& value, NodeId where) {
    for_each_element(array, [&](std::span<const ValueId> indices) {
        store({array, {indices.begin(), indices.end()}}, value, where);
    });
}

// Element by element; the source's dimensions of one element, and those that it lacks, are repeated.
void FunctionLowering::copy_into(const Value& target, const Value& source, NodeId where) {
    const size_t missing = target.type->rank - source.type->rank;
    std::vector<ValueId> repeated;  // 0 for a dimension that is repeated, else 1
    for (size_t d = 0; d < source.type->rank && !dry_; ++d) {
        const ValueId size = size_of(source, d), wanted = size_of(target, missing + d);
        if (size == wanted) {
            repeated.push_back(ValueId{});
            continue;
        }
        const ValueId one = integer(1).parts[0];
        const ValueId same = builder_->apply(OpId::kEqual, {size, wanted});
        const ValueId single = builder_->apply(OpId::kEqual, {size, one});
        Site shapes = site("ValueError", {});
        shapes.kind = SiteKind::kBroadcast;
        shapes.axis = static_cast<int>(missing + d);
        check(builder_->apply(OpId::kLogicalOr, {same, single}), std::move(shapes), {size, wanted}, where);
        repeated.push_back(builder_->apply(OpId::kSelect, {same, one, integer(0).parts[0]}));
    }
    for_each_element(target, [&](std::span<const ValueId> indices) {
        std::vector<ValueId> from;
        for (size_t d = 0; d < source.type->rank; ++d) {
            const ValueId index = indices[missing + d];
            from.push_back(dry_ || !repeated[d].valid() ? index
                                                        : apply(OpId::kMultiply, {index, repeated[d]}));
        }
        // Texts are copied from where they are.
        const Element read{source, std::move(from)};
        store({target, {indices.begin(), indices.end()}},
              ArrayTexts::is_text(source.type) ? structure_at(read) : load(read), where);
    });
}

// Dimensions of one element before those that the target has say nothing.
Value FunctionLowering::without_leading(const Value& array, size_t rank, NodeId where) {
    if (array.type->rank <= rank) return array;
    std::vector<ValueId> shape, strides;
    for (size_t d = 0; d < array.type->rank; ++d) {
        if (d + rank >= array.type->rank) {
            shape.push_back(size_of(array, d));
            strides.push_back(stride_of(array, d));
            continue;
        }
        const ValueId one = integer(1).parts[0];
        Site shapes = site("ValueError", {});
        shapes.kind = SiteKind::kBroadcast;
        shapes.axis = static_cast<int>(d);
        check(apply(OpId::kEqual, {size_of(array, d), one}), std::move(shapes), {size_of(array, d), one},
              where);
    }
    return view(array, integer(0).parts[0], shape, strides, array.type->contiguous && rank > 0,
                array.type->ordered);
}

// target[...] = value, as NumPy: also where both are of the same memory.
void FunctionLowering::store_part(const Value& target, const Value& given, NodeId where) {
    const Value value = is_strided(given.type) ? without_leading(given, target.type->rank, where) : given;
    expect_writeable(target.type, where);
    // Items of a list or a tuple, which may be read from the target, are an array before it changes.
    if (is_array(target.type) && (is_list(given.type) || given.type->kind == TypeKind::kTuple))
        return store_part(target, array_of(given, std::nullopt, where), where);
    const bool is_one = is_structures(target.type) && (value.type->single || !is_strided(value.type));
    if (is_scalar(value.type) || is_one) return fill(target, value, where);
    if (!is_strided(value.type) || (is_array(target.type) && !is_array(value.type)))
        fail(where,
             lang::describe(value.type) + " cannot be stored in a part of " + lang::describe(target.type));
    if (value.type->rank > target.type->rank)
        fail(where, "an array of " + std::to_string(value.type->rank) +
                        " dimensions cannot be stored in one of " + std::to_string(target.type->rank));
    if (value.type->scope != target.type->scope) return copy_into(target, value, where);
    std::vector<ValueId> shape;
    for (size_t d = 0; d < value.type->rank; ++d) shape.push_back(size_of(value, d));
    const Value copied = allocate(value.type, shape, where);
    copy_into(copied, value, where);
    copy_into(target, copied, where);
}

std::optional<ScalarType> FunctionLowering::dtype_of(const Value& value, NodeId where) {
    if (value.type->kind == TypeKind::kNone) return std::nullopt;
    if (is_scalar(value.type) && !value.type->weak) return value.type->scalar;  // a number's own
    std::string name;
    if (value.type->kind == TypeKind::kString) name = value.type->text;
    if (value.type->kind == TypeKind::kSymbol && value.type->symbol->kind == SymbolKind::kKnown) {
        const std::string& path = value.type->symbol->path;
        const bool known = path.starts_with("numpy.") || path.starts_with("builtins.");
        if (known) name = path.substr(path.find('.') + 1);
    }
    const DTypeInfo* found = name.empty() ? nullptr : DType::find(name);
    if (found == nullptr && value.type->kind == TypeKind::kString)
        fail(where, "Invalid NumPy dtype specified: '" + name + "'",
             "Compiled functions have numbers and bools.");
    if (found == nullptr)
        fail(where, "The argument \"dtype\" must be a data-type if it is provided, which " +
                        lang::describe(value.type) + " is not in a compiled function");
    return found->scalar_type;
}

// What a program gives as order=: 'C', 'F', or 'K' where that is what else it would be.
char FunctionLowering::order_given(const Value& given, char otherwise, const std::string& name,
                                   NodeId where) const {
    if (given.type->kind == TypeKind::kNone) return otherwise;
    const std::string text = given.type->kind == TypeKind::kString ? given.type->text : "";
    if (text != "C" && text != "F" && (text != "K" || otherwise != 'K'))
        fail(where, name + "() takes 'C' or 'F' as its order in a compiled function");
    return text[0];
}

// A copy in the order of C or Fortran, or as the array lies.
Value FunctionLowering::copied_in(const Value& array, char order, NodeId where) {
    if (order == 'K') return copied_as_it_lies(array, array.type->scalar, where);
    const Value given = order == 'F' ? transposed(array) : array;
    std::vector<ValueId> shape;
    for (size_t d = 0; d < given.type->rank; ++d) shape.push_back(size_of(given, d));
    const Value copy = copied(given, shape, where);
    return order == 'F' ? transposed(copy) : copy;
}

// numpy.empty, zeros, ones, full and those that take after another array.
Value FunctionLowering::call_allocate(const std::string& name, const Arguments& arguments) {
    const NodeId where = arguments.where;
    const bool like = name.ends_with("_like");
    const bool fills = name.starts_with("full");
    std::optional<Value> first, fill_value, dtype;
    char order = like ? 'K' : 'C';
    const auto take = [&](const std::string& keyword, const Value& value) {
        if (keyword == (like ? "a" : "shape") || (like && keyword == "prototype")) {
            first = value;
        } else if (keyword == "fill_value" && fills) {
            fill_value = value;
        } else if (keyword == "dtype") {
            dtype = value;
        } else if (keyword == "order") {
            order = order_given(value, order, name, where);
        } else {
            fail(where, name + "() takes no keyword '" + keyword + "' in a compiled function",
                 "Leave it out.");
        }
    };
    const char* const names[] = {like ? "a" : "shape", fills ? "fill_value" : "dtype", "dtype"};
    if (arguments.positional.size() > (fills ? 3U : 2U))
        fail(where, name + "() is given too many arguments here");
    for (size_t i = 0; i < arguments.positional.size(); ++i) take(names[i], arguments.positional[i]);
    for (const auto& [keyword, value] : arguments.keywords) take(keyword, value);
    if (!first) fail(where, name + "() needs " + (like ? "an array" : "a shape"));
    if (fills && !fill_value) fail(where, name + "() needs a fill_value");
    std::vector<ValueId> shape;
    if (like) {
        if (!is_strided(first->type) && !is_scalar(first->type))
            fail(where, name + "() takes an array or a number, not " + lang::describe(first->type));
        for (size_t d = 0; is_strided(first->type) && d < first->type->rank; ++d)
            shape.push_back(size_of(*first, d));
    } else if (first->type->kind == TypeKind::kTuple) {
        for (size_t i = 0; i < first->type->parts.size(); ++i)
            shape.push_back(as_index(tuple_item(*first, i), where));
    } else {
        shape.push_back(as_index(*first, where));
    }
    const Layout* layout = like ? first->type->layout : nullptr;
    if (dtype && dtype->type->kind != TypeKind::kNone)
        layout = dtype->type->kind == TypeKind::kSymbol ? dtype->type->symbol->layout : nullptr;
    if (dtype && dtype->type->kind == TypeKind::kString) {
        if (const std::optional<DateType> dates = date_type_named(dtype->type->text))
            layout = date_layout(*dates);
    }
    if (layout != nullptr) {
        const bool clears = name.starts_with("zeros");
        if (!clears && !name.starts_with("empty"))
            fail(where, name + "() makes no structures in a compiled function",
                 "Make zeros, and assign its fields.");
        const Value made = allocate(
            structures_type(layout, array_type(ScalarType::kUInt8, 0, false, false, 0)), shape, where);
        if (clears) clear_structures(made);
        return made;
    }
    ScalarType element = like ? first->type->scalar : ScalarType::kFloat64;
    if (fills && !like) {
        if (!is_scalar(fill_value->type))
            fail(where, name + "() fills with a number, not " + lang::describe(fill_value->type));
        element = fill_value->type->scalar;
    }
    if (dtype) element = dtype_of(*dtype, where).value_or(element);
    const auto filled = [&](const Value& made) {
        if (name.starts_with("zeros")) fill(made, integer(0), where);
        if (name.starts_with("ones")) fill(made, integer(1), where);
        if (fills) fill(made, *fill_value, where);
    };
    if (order == 'K' && is_array(first->type)) return allocate_as(*first, element, where, true, filled);
    if (order == 'F') std::reverse(shape.begin(), shape.end());
    const Value result = allocate(element, shape, where);
    filled(result);
    return order == 'F' ? transposed(result) : result;
}

static std::vector<std::string> methods_of(TypeRef type) {
    if (is_array(type))
        return {"all",     "any", "argmax",   "argmin", "argsort", "copy",     "fill", "item",
                "flatten", "max", "mean",     "min",    "prod",    "ravel",    "sort", "reshape",
                "std",     "sum", "swapaxes", "var",    "tobytes", "transpose"};
    if (is_scalar(type)) return {"bit_count", "bit_length", "conjugate", "is_integer", "item"};
    if (type->kind == TypeKind::kTuple) return {"count", "index"};
    if (is_structures(type)) return {"copy"};
    return {};
}

Value FunctionLowering::call_method(const Value& base, const std::string& name, const Arguments& arguments) {
    const NodeId where = arguments.where;
    if (base.type->record != nullptr && base.type->record->is_tuple && name == "_replace")
        return replaced(base, arguments);
    if (base.type->record == generator_record()) return Draws(*this, base, name, arguments).call();
    if (Kernels::is_grid_group(base))
        return Kernels(*this, "cg.this_grid()", where).call_method_of_grid(name, arguments);
    if (is_any_text(base.type)) return Strings(*this, where).call_method(base, name, arguments);
    if (is_dict(base.type)) return Dicts(*this, where).call_method(base, name, arguments);
    if (is_set(base.type)) return Sets(*this, where).call_method(base, name, arguments);
    if (base.type->kind == TypeKind::kSlice && name == "indices") {
        expect_arguments(name, arguments, 1, 1);
        if (!is_integer(arguments.positional[0].type)) as_index(arguments.positional[0], where);
        return call_prelude("builtins.slice_indices", {{tuple_item(base, 0), tuple_item(base, 1),
                                                        tuple_item(base, 2), arguments.positional[0]},
                                                       {},
                                                       where});
    }
    static constexpr std::string_view kMutating[] = {"append", "clear",  "extend",  "insert",
                                                     "pop",    "remove", "reverse", "sort"};
    if (is_literal_list(base.type) && std::ranges::find(kMutating, name) != std::end(kMutating))
        fail(where, "Cannot mutate a literal list: its elements are of several types", "Write a tuple.");
    if (is_literal_list(base.type) && name == "copy") {
        expect_arguments(name, arguments, 0, 0);
        return base;
    }
    if (base.type->kind == TypeKind::kTuple && (name == "index" || name == "count"))
        return tuple_method(base, name, arguments);
    if (is_list(base.type)) return list_method(base, name, arguments);
    if (base.type->kind == TypeKind::kNever) return never();
    if (is_scalar(base.type) && !base.type->weak && name == "view" && arguments.positional.size() == 1) {
        const Value made = allocate(base.type->scalar, {}, where);
        store({made, {}}, base, where);
        const auto dtype = dtype_of(arguments.positional[0], where);
        return load({viewed(made, dtype.value_or(base.type->scalar), where), {}});
    }
    if (is_scalar(base.type) && base.type->weak && name == "view") {
        const NodeId object = node(node(where).children[0]).children[0];
        const bool is_named = node(object).kind == NodeKind::kName;
        const std::string what =
            is_named ? "variable '" + variable(static_cast<size_t>(node(object).number)) + "'" : "number";
        fail(where,
             "'view' can only be called on NumPy dtypes, try wrapping the " + what + " with 'np.<dtype>()'");
    }
    if (is_scalar(base.type)) {
        if (const std::optional<Value> result = call_number_method(base, name, arguments)) return *result;
    }
    if (Dates::is_date(base) ||
        (is_array(base.type) && name == "astype" && arguments.positional.size() == 1 &&
         is_text(arguments.positional[0].type) && date_type_named(arguments.positional[0].type->text))) {
        if (const std::optional<Value> result = Dates(*this, where).call_method(base, name, arguments))
            return *result;
    }
    if (ArrayTexts::is_text(base.type) && name == "nonzero")
        return call_method(ArrayTexts(*this, where).truths(base), name, arguments);
    if (is_structures(base.type) && name == "copy") {
        expect_arguments(name, arguments, 0, 0);
        std::vector<ValueId> shape;
        for (size_t d = 0; d < base.type->rank; ++d) shape.push_back(size_of(base, d));
        const Value made = copied(base, shape, where);
        return base.type->single ? structure_at({made, {}}) : made;
    }
    if (is_array(base.type)) {
        if (const std::optional<Value> result = by_axis(base, name, arguments)) return *result;
        if (const std::optional<Value> result = array_reduction(base, name, arguments)) return *result;
        if (const auto result = ArrayFunctions(*this, name, arguments).call_method(base)) return *result;
        if (name == "view") {
            expect_arguments(name, arguments, 1, 1);
            return viewed(base, dtype_of(arguments.positional[0], where).value_or(base.type->scalar), where);
        }
        if (name == "astype") {
            expect_arguments(name, arguments, 1, 1);
            const auto dtype = dtype_of(arguments.positional[0], where);
            if (DType(base.type->scalar).is_complex() && dtype && !DType(*dtype).is_complex())
                fail(where, "a real number cannot be made of " + lang::describe(base.type),
                     "Take its .real.");
            return array_of(base, dtype, where);
        }
        if (name == "item" && base.type->rank == 0) return load({base, {}});
        if (name == "copy") {
            const Value order = order_argument(name, arguments, 0);
            return copied_in(base, order_given(order, 'C', name, where), where);
        }
        if (name == "reshape" && !arguments.positional.empty()) {
            const Value order = order_argument(name, arguments, arguments.positional.size());
            const bool fortran = order_given(order, 'C', name, where) == 'F';
            return fortran ? reshaped_as_fortran(base, arguments.positional, where)
                           : reshaped(base, arguments.positional, where);
        }
        if (name == "ravel" || name == "flatten") {
            const Value order = order_argument(name, arguments, 0);
            const Value of = order_given(order, 'C', name, where) == 'F' ? transposed(base) : base;
            if (name == "ravel") return ravelled(of, where);
            return reshaped(copied_in(of, 'C', where), {integer(-1)}, where);
        }
        if (name == "tobytes") {
            const Value order = order_argument(name, arguments, 0);
            const Value of = order_given(order, 'C', name, where) == 'F' ? transposed(base) : base;
            Value bytes =
                viewed(reshaped(copied_in(of, 'C', where), {integer(-1)}, where), ScalarType::kUInt8, where);
            bytes.type = bytes_type(bytes.type);
            return bytes;
        }
        if (name == "fill") {
            expect_arguments(name, arguments, 1, 1);
            expect_writeable(base.type, where);
            fill(base, arguments.positional[0], where);
            return none();
        }
        if (name == "transpose" || name == "swapaxes") return *array_with_shape(base, name, arguments);
    }
    fail(where, lang::describe(base.type) + " has no method '" + name + "' in a compiled function",
         meant(name, methods_of(base.type), "Write it as a function, or call it outside."));
}

}  // namespace weft::lang
