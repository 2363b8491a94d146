// numpy.concatenate, stack and their kin, and diag: arrays that are made of others, or lie across one.
#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// An axis of one element, among those of the array that is looked at.
constexpr int kNew = -1;

// The dimensions that an array of `rank` has as one of those that are put together.
std::vector<int> axes_for(const std::string& name, size_t rank) {
    std::vector<int> axes;
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int>(d));
    if (name == "vstack") axes.insert(axes.begin(), 2 - std::min<size_t>(rank, 2), kNew);
    if (name == "hstack" && rank == 0) axes = {kNew};
    if (name == "column_stack") axes.insert(axes.end(), 2 - std::min<size_t>(rank, 2), kNew);
    if (name == "dstack") {
        if (rank < 2) axes.insert(axes.begin(), kNew);
        if (rank < 1) axes.push_back(kNew);
        if (rank < 3) axes.push_back(kNew);
    }
    return axes;
}

}  // namespace

Value FunctionLowering::with_axes(const Value& array, std::span<const int> axes) {
    std::vector<ValueId> shape, strides;
    for (const int axis : axes) {
        const auto d = static_cast<size_t>(axis);
        shape.push_back(axis == kNew ? integer(1).parts[0] : size_of(array, d));
        strides.push_back(axis == kNew ? integer(0).parts[0] : stride_of(array, d));
    }
    const bool contiguous = array.type->contiguous && axes.back() + 1 == static_cast<int>(array.type->rank);
    std::vector<int> old(axes.begin(), axes.end());
    std::erase(old, kNew);
    const bool ordered = array.type->ordered && std::is_sorted(old.begin(), old.end());
    return view(array, integer(0).parts[0], shape, strides, contiguous, ordered);
}

// With one axis more, at a place that need not be known.
Value FunctionLowering::with_axis_at(const Value& array, ValueId axis) {
    const size_t rank = array.type->rank;
    const ValueId one = integer(1).parts[0], zero = integer(0).parts[0];
    std::vector<ValueId> shape, strides;
    for (size_t d = 0; d <= rank; ++d) {
        const ValueId here = integer(static_cast<int64_t>(d)).parts[0];
        const ValueId is_new = apply(OpId::kEqual, {axis, here});
        const ValueId is_behind = apply(OpId::kLess, {axis, here});
        const auto choose = [&](const auto& of, ValueId fresh) {
            ValueId result = d < rank ? of(d) : fresh;
            if (d > 0) result = apply(OpId::kSelect, {is_behind, of(d - 1), result});
            return apply(OpId::kSelect, {is_new, fresh, result});
        };
        shape.push_back(choose([&](size_t k) { return size_of(array, k); }, one));
        strides.push_back(choose([&](size_t k) { return stride_of(array, k); }, zero));
    }
    return view(array, zero, shape, strides, false);
}

// numpy.concatenate, stack, vstack, hstack, dstack, column_stack.
Value FunctionLowering::call_joined(const std::string& given_name, const Arguments& arguments) {
    const NodeId where = arguments.where;
    const std::string name = given_name == "row_stack" ? "vstack" : given_name;
    const bool has_axis = name == "concatenate" || name == "stack";
    std::optional<Value> given_axis;
    if (has_axis && arguments.positional.size() > 1) given_axis = arguments.positional[1];
    for (const auto& [keyword, value] : arguments.keywords) {
        if (keyword != "axis" || !has_axis)
            fail(where, given_name + "() takes no keyword '" + keyword + "' in a compiled function");
        given_axis = value;
    }
    const size_t count = arguments.positional.size();
    if (count == 0 || count > (has_axis ? 2U : 1U))
        expect_arguments(given_name, {arguments.positional, {}, where}, 1, has_axis ? 2 : 1);
    const Value& given = arguments.positional[0];
    if (given.type->kind == TypeKind::kNever) return given;
    const bool of_list = is_list(given.type);
    if (!of_list && given.type->kind != TypeKind::kTuple)
        fail(where,
             given_name + "() takes a tuple or a list of arrays here, not " + lang::describe(given.type));

    const bool flat = given_axis && given_axis->type->kind == TypeKind::kNone && name == "concatenate";
    const auto as_array = [&](const Value& item) {
        const Value value = required(item, where);
        if (is_scalar(value.type) && name != "concatenate") return array_of(value, std::nullopt, where);
        if (!is_array(value.type))
            fail(where, given_name + "() takes arrays here, not " + lang::describe(value.type),
                 "Make an array of it: np.array(...).");
        return value;
    };
    const std::string none_given =
        std::string("need at least one array to ") + (name == "stack" ? "stack" : "concatenate");
    if (of_list && given.type->parts[0]->kind == TypeKind::kNever) {
        if (dry_) return never();  // nothing was added to it so far
        fail(where, none_given);
    }
    if (given.type->parts.empty()) fail(where, none_given);
    // What the items become, before they are put together along `axis`.
    ValueId axis{};
    const auto prepared = [&](const Value& array) {
        if (flat) return ravelled(array, where);
        if (name == "stack") return with_axis_at(array, axis);
        if (name == "concatenate") return array;
        return with_axes(array, axes_for(name, array.type->rank));
    };
    const Value zero = integer(0);
    if (of_list) {
        check(apply(OpId::kGreater, {length_of(given), zero.parts[0]}), site("ValueError", none_given), {},
              where);
    }
    std::vector<Value> items;
    if (of_list) {
        items.push_back(as_array(load_item(given, zero.parts[0])));
    } else {
        for (size_t i = 0; i < given.type->parts.size(); ++i) items.push_back(as_array(tuple_item(given, i)));
    }
    const size_t first_rank = flat ? 1 : items[0].type->rank;
    if (first_rank == 0 && name == "concatenate")
        fail(where, "zero-dimensional arrays cannot be concatenated", "Write np.stack((...)).");
    const auto rank =
        static_cast<int64_t>(name == "stack" || name == "concatenate" ? first_rank + (name == "stack" ? 1 : 0)
                                                                      : axes_for(name, first_rank).size());
    const int64_t known_axis = name == "dstack"         ? 2
                               : name == "column_stack" ? 1
                               : name == "hstack"       ? (rank > 1 ? 1 : 0)
                                                        : 0;
    Value along = integer(known_axis);
    if (given_axis && !flat) {
        expect_index(given_axis->type, where);
        along = call_prelude("numpy.axis_of",
                             {{scalar(scalar_type(ScalarType::kInt64, true), as_index(*given_axis, where)),
                               integer(rank),
                               {string_type(""), {}, 0}},
                              {},
                              where});
    }
    axis = as_index(along, where);
    const bool rows_are_contiguous = std::all_of(items.begin(), items.end(), [](const Value& item) {
        return item.type->rank == 0 || item.type->contiguous;
    });
    const bool is_in_order = rows_are_contiguous && items[0].type->rank < 3;
    for (Value& item : items) item = prepared(item);
    const Value first = items[0];
    std::vector<OperandType> types;
    for (const Value& item : items) {
        if (item.type->rank != first.type->rank)
            fail(where, "all the input arrays must have the same number of dimensions here, not " +
                            std::to_string(first.type->rank) + " and " + std::to_string(item.type->rank));
        types.push_back(DType(item.type->scalar));
    }
    const ScalarType element = result_type(types).scalar_type();
    const auto size_along = [&](const Value& array) {
        return any_item(shape_of(array), axis, where).parts[0];
    };
    const auto expect_shape = [&](const Value& array, ValueId number) {
        const Value at = scalar(scalar_type(ScalarType::kInt64, true), number);
        call_prelude(name == "stack" ? "numpy.expect_shape" : "numpy.expect_shape_beside",
                     {{shape_of(first), shape_of(array), at, along}, {}, where});
    };
    // All but the first of a list, each with its number and a number that it changes.
    const auto over_list = [&](ValueId start,
                               const std::function<ValueId(const Value&, ValueId, ValueId)>& step) {
        if (dry_) {
            step(prepared(as_array(load_item(given, {}))), {}, {});
            return ValueId{};
        }
        Hoist* const hoist = std::exchange(hoist_, nullptr);
        const auto results =
            builder_->for_loop(builder_->index(1), length_of(given), builder_->index(1), std::array{start},
                               [&](ir::Builder&, std::span<const ValueId> values) -> std::vector<ValueId> {
                                   const Nested nested(*this);
                                   const size_t temporaries = temporaries_.size();
                                   const Value item = prepared(as_array(load_item(given, values[0])));
                                   const ValueId result = step(item, values[0], values[1]);
                                   end_temporaries(temporaries);
                                   return {result};
                               });
        hoist_ = hoist;
        return results[0];
    };
    const auto longer = [&](const Value& item, ValueId number, ValueId before) {
        expect_shape(item, number);
        return apply(OpId::kAdd, {before, size_along(item)});
    };
    ValueId total = size_along(first);
    for (size_t i = 1; i < items.size(); ++i)
        total = longer(items[i], integer(static_cast<int64_t>(i)).parts[0], total);
    if (of_list) total = over_list(total, longer);

    std::vector<ValueId> shape;
    for (size_t d = 0; d < first.type->rank; ++d) {
        const ValueId is_it = apply(OpId::kEqual, {axis, integer(static_cast<int64_t>(d)).parts[0]});
        shape.push_back(apply(OpId::kSelect, {is_it, total, size_of(first, d)}));
    }
    Value result = allocate(element, shape, where);
    if (shape.size() > 1 && !of_list && !is_in_order) {
        const bool contiguous =
            std::all_of(items.begin(), items.end(), [](const Value& item) { return item.type->contiguous; });
        const std::vector<ValueId> strides =
            dry_ ? shape : strides_like(items, shape, DType(element).itemsize(), contiguous);
        result = view(result, zero.parts[0], shape, strides, contiguous);
    }
    std::vector<ValueId> steps;
    for (size_t d = 0; d < shape.size(); ++d) steps.push_back(stride_of(result, d));
    const TypeRef size_type = scalar_type(ScalarType::kInt64, true);
    const Value strides{tuple_type(std::vector<TypeRef>(shape.size(), size_type)), steps, 0};
    const ValueId step = any_item(strides, axis, where).parts[0];
    const auto put = [&](const Value& item, ValueId, ValueId at) {
        std::vector<ValueId> sizes;
        for (size_t d = 0; d < shape.size(); ++d) sizes.push_back(size_of(item, d));
        const ValueId offset = apply(OpId::kMultiply, {at, step});
        copy_into(view(result, offset, sizes, steps, result.type->contiguous), item, where);
        return apply(OpId::kAdd, {at, size_along(item)});
    };
    ValueId at = zero.parts[0];
    for (const Value& item : items) at = put(item, {}, at);
    if (of_list) over_list(at, put);
    return result;
}

// numpy.diag: of a vector the matrix that has it, of a matrix a view of its diagonal, which NumPy lets be
// read only.
Value FunctionLowering::call_diagonal(const Arguments& arguments) {
    const NodeId where = arguments.where;
    std::vector<Value> given = arguments.positional;
    for (const auto& [keyword, value] : arguments.keywords) {
        const bool is_k = keyword == "k" && given.size() == 1;
        if (!is_k && !(keyword == "v" && given.empty()))
            fail(where, "diag() takes no keyword '" + keyword + "' here");
        given.push_back(value);
    }
    expect_arguments("diag", {given, {}, where}, 1, 2);
    const Value& array = given[0];
    if (!is_array(array.type) || array.type->rank == 0 || array.type->rank > 2)
        fail(where, "diag() takes an array of one or two dimensions, not " + lang::describe(array.type));
    const Value k = given.size() > 1
                        ? scalar(scalar_type(ScalarType::kInt64, true), as_index(given[1], where))
                        : integer(0);
    const Value zero = integer(0);
    const auto positive = [&](const Value& value) {
        return apply(OpId::kMaximum, {as_index(value, where), zero.parts[0]});
    };
    if (array.type->rank == 1) {
        const ValueId count = apply(OpId::kAdd, {size_of(array, 0), apply(OpId::kAbsolute, {k.parts[0]})});
        const Value made = allocate(array.type->scalar, std::array{count, count}, where);
        fill(made, zero, where);
        call_prelude("numpy.put_on_diagonal", {{made, array, k}, {}, where});
        return made;
    }
    const Value length = call_prelude("numpy.length_of_diagonal", {{shape_of(array), k}, {}, where});
    const ValueId right = positive(k), down = positive(unary("neg", k, where));
    const ValueId offset = apply(OpId::kAdd, {apply(OpId::kMultiply, {right, stride_of(array, 1)}),
                                              apply(OpId::kMultiply, {down, stride_of(array, 0)})});
    const ValueId step = apply(OpId::kAdd, {stride_of(array, 0), stride_of(array, 1)});
    // Nothing lies beyond the edges.
    const ValueId some = apply(OpId::kGreater, {length.parts[0], zero.parts[0]});
    const ValueId at = apply(OpId::kSelect, {some, offset, zero.parts[0]});
    Value result = view(array, at, std::array{length.parts[0]}, std::array{step}, false);
    Type type = *result.type;
    type.readonly = true;
    result.type = intern(std::move(type));
    return result;
}

}  // namespace weft::lang
