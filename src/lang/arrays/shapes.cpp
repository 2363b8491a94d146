// NumPy's functions that show an array with other axes: views, but where reshape() and outer() need a copy.
#include <algorithm>
#include <array>
#include <map>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

// Axes that are known only when the code runs: one or a tuple of them, from the front.
std::vector<ValueId> FunctionLowering::axes_given(const Value& given, size_t rank,
                                                  const std::string& repeated, NodeId where) {
    std::vector<Value> items = {given};
    if (given.type->kind == TypeKind::kTuple) {
        items.clear();
        for (size_t k = 0; k < given.type->parts.size(); ++k) items.push_back(tuple_item(given, k));
    }
    // Where that names a parameter, an axis that is out of bounds is told with it, too.
    const size_t first = repeated.find('`') + 1, last = repeated.rfind('`');
    const std::string parameter =
        first == 0 || source_.is_prelude ? "" : repeated.substr(first, last - first) + ": ";
    const Value name{string_type(parameter), {}, 0};
    std::vector<ValueId> axes;
    for (const Value& item : items) {
        const Value number = scalar(scalar_type(ScalarType::kInt64, true), as_index(item, where));
        const Value axis =
            call_prelude("numpy.axis_of", {{number, integer(static_cast<int64_t>(rank)), name}, {}, where});
        axes.push_back(axis.parts[0]);
    }
    for (size_t i = 0; i < axes.size(); ++i)
        for (size_t k = 0; k < i; ++k)
            check(apply(OpId::kNotEqual, {axes[i], axes[k]}), site("ValueError", repeated), {}, where);
    return axes;
}

// Which axes an array has where some are moved; the others stay in their order.
std::vector<ValueId> FunctionLowering::moved_axes(std::span<const ValueId> from, std::span<const ValueId> to,
                                                  size_t rank) {
    const auto index = [&](size_t number) { return integer(static_cast<int64_t>(number)).parts[0]; };
    const auto choose = [&](ValueId condition, ValueId yes, ValueId no) {
        return apply(OpId::kSelect, {condition, yes, no});
    };
    // For each axis whether it is one of them, and how many before it are not.
    const auto count_others = [&](std::span<const ValueId> axes) {
        std::vector<std::pair<ValueId, ValueId>> found;
        ValueId others = index(0);
        for (size_t d = 0; d < rank; ++d) {
            ValueId is_one = boolean(false).parts[0];
            for (const ValueId axis : axes)
                is_one = apply(OpId::kLogicalOr, {is_one, apply(OpId::kEqual, {axis, index(d)})});
            found.emplace_back(is_one, others);
            others = choose(is_one, others, apply(OpId::kAdd, {others, index(1)}));
        }
        return found;
    };
    const auto old = count_others(from), made = count_others(to);
    std::vector<ValueId> axes;
    for (size_t p = 0; p < rank; ++p) {
        ValueId axis = index(0);
        for (size_t d = 0; d < rank; ++d) {
            const ValueId is_it = apply(
                OpId::kLogicalAnd,
                {negation(old[d].first).parts[0], apply(OpId::kEqual, {old[d].second, made[p].second})});
            axis = choose(is_it, index(d), axis);
        }
        for (size_t k = 0; k < from.size(); ++k)
            axis = choose(apply(OpId::kEqual, {to[k], index(p)}), from[k], axis);
        axes.push_back(axis);
    }
    return axes;
}

// An array with its axes in an order that is known only when the code runs.
Value FunctionLowering::with_axes_at(const Value& array, std::span<const ValueId> axes) {
    const auto of_axis = [&](ValueId axis, const std::function<ValueId(size_t)>& value) {
        ValueId found = value(0);
        for (size_t d = 1; d < array.type->rank; ++d) {
            const ValueId is_it = apply(OpId::kEqual, {axis, integer(static_cast<int64_t>(d)).parts[0]});
            found = apply(OpId::kSelect, {is_it, value(d), found});
        }
        return found;
    };
    std::vector<ValueId> shape, strides;
    for (const ValueId axis : axes) {
        shape.push_back(of_axis(axis, [&](size_t d) { return size_of(array, d); }));
        strides.push_back(of_axis(axis, [&](size_t d) { return stride_of(array, d); }));
        if (!dry_) note(shape.back(), {0, int64_t{1} << 62, {}, 0});
    }
    return view(array, integer(0).parts[0], shape, strides, false);
}

// Whether a tuple has items that are known only when the code runs.
bool FunctionLowering::has_later_items(const Value& value) {
    return value.type->kind == TypeKind::kTuple &&
           std::any_of(value.type->parts.begin(), value.type->parts.end(),
                       [](TypeRef part) { return !literal_integer(part); });
}

std::optional<Value> FunctionLowering::array_with_shape(const Value& given_array, const std::string& name,
                                                        const Arguments& rest) {
    static constexpr std::string_view kNames[] = {"reshape",     "ravel", "transpose", "swapaxes", "moveaxis",
                                                  "expand_dims", "flip",  "flipud",    "fliplr",   "outer"};
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return std::nullopt;
    const NodeId where = rest.where;
    const Value array = is_array(given_array.type) ? given_array : array_of(given_array, std::nullopt, where);
    std::vector<Value> given = rest.positional;
    static constexpr std::pair<std::string_view, std::string_view> kKeywords[] = {
        {"flip", "axis"}, {"expand_dims", "axis"}, {"transpose", "axes"}, {"reshape", "shape"}};
    std::optional<Value> out;
    const bool takes_order = name == "ravel" || name == "reshape";
    char order = 'C';
    const size_t before = name == "ravel" ? 0 : 1;
    if (takes_order && given.size() == before + 1) {
        order = order_given(given.back(), order, name, where);
        given.pop_back();
    }
    for (const auto& [keyword, value] : rest.keywords) {
        if (name == "outer" && keyword == "out") {
            if (value.type->kind == TypeKind::kNone) continue;
            if (!is_array(value.type)) fail(where, "out is an array, not " + lang::describe(value.type));
            out = value;
            continue;
        }
        if (takes_order && keyword == "order") {
            order = order_given(value, order, name, where);
            continue;
        }
        const bool known = given.empty() && std::find(std::begin(kKeywords), std::end(kKeywords),
                                                      std::pair<std::string_view, std::string_view>(
                                                          name, keyword)) != std::end(kKeywords);
        if (!known) fail(where, name + "() takes no keyword '" + keyword + "' in a compiled function");
        given.push_back(value);
    }
    const auto expect = [&](size_t least, size_t most) {
        if (given.size() >= least && given.size() <= most) return;
        fail(where, name + "() is given " + std::to_string(given.size() + 1) + " arguments here");
    };
    const auto rank = static_cast<int64_t>(array.type->rank);
    const auto axis_of = [&](TypeRef type, int64_t most, const std::string& parameter = "") {
        const std::optional<int64_t> number = literal_integer(type);
        if (!number)
            fail(where, "the axis of " + name + "() has to be known when the function is compiled",
                 "Write it as a number, or as a default that calls leave out.");
        if (*number < -most || *number >= most)
            fail(where, (source_.is_prelude ? "" : parameter) + "axis " + std::to_string(*number) +
                            " is out of bounds for array of dimension " + std::to_string(most));
        return static_cast<int>(*number < 0 ? *number + most : *number);
    };
    std::vector<int> axes;
    for (int d = 0; d < rank; ++d) axes.push_back(d);
    if (name == "reshape") {
        expect(1, 1);
        if (order == 'F') return reshaped_as_fortran(array, given, where);
        return reshaped(ravelled(array, where), given, where);
    }
    if (name == "ravel") {
        expect(0, 0);
        return ravelled(order == 'F' ? transposed(array) : array, where);
    }
    if (name == "outer") {
        expect(1, 2);
        if (given.size() == 2 && is_array(given[1].type)) out = given[1];
        const Value other = is_array(given[0].type) ? given[0] : array_of(given[0], std::nullopt, where);
        const std::array operands = {with_axes(ravelled(array, where), std::array{0, -1}),
                                     ravelled(other, where)};
        const OpInfo& multiply = op_info(OpId::kMultiply);
        return out ? store_operation(multiply, operands, *out, where)
                   : array_operation(multiply, operands, where);
    }
    if (name == "transpose") {
        if (given.size() == 1 && given[0].type->kind == TypeKind::kTuple) {
            const Value whole = given[0];
            given.clear();
            for (size_t k = 0; k < whole.type->parts.size(); ++k) given.push_back(tuple_item(whole, k));
        }
        if (given.empty() || given[0].type->kind == TypeKind::kNone) return transposed(array);
        if (given.size() == array.type->rank && has_later_items(tuple(given)))
            return with_axes_at(
                array, axes_given(tuple(given), array.type->rank, "repeated axis in transpose", where));
        std::vector<int> order;
        for (const Value& value : given) order.push_back(axis_of(value.type, rank));
        std::vector<int> sorted = order;
        std::sort(sorted.begin(), sorted.end());
        if (sorted != axes) fail(where, "axes don't match array");
        return with_axes(array, order);
    }
    if (name == "swapaxes" || name == "moveaxis") {
        expect(2, 2);
        if (name == "moveaxis" && given[0].type->kind == TypeKind::kTuple) {
            const size_t axis_count = array.type->rank, count = given[0].type->parts.size();
            if (given[1].type->kind != TypeKind::kTuple || given[1].type->parts.size() != count)
                fail(where, "`source` and `destination` arguments must have the same number of elements");
            if (!has_later_items(given[0]) && !has_later_items(given[1])) {
                std::map<int, int> places;  // in the order of the destinations
                for (size_t k = 0; k < count; ++k) {
                    const int from = axis_of(given[0].type->parts[k], rank, "source: ");
                    if (std::erase(axes, from) == 0) fail(where, "repeated axis in `source` argument");
                    if (!places.emplace(axis_of(given[1].type->parts[k], rank, "destination: "), from).second)
                        fail(where, "repeated axis in `destination` argument");
                }
                for (const auto& [to, from] : places) axes.insert(axes.begin() + to, from);
                return with_axes(array, axes);
            }
            const auto from = axes_given(given[0], axis_count, "repeated axis in `source` argument", where);
            const auto to =
                axes_given(given[1], axis_count, "repeated axis in `destination` argument", where);
            return with_axes_at(array, moved_axes(from, to, axis_count));
        }
        const bool swaps = name == "swapaxes";
        const int from = axis_of(given[0].type, rank, swaps ? "axis1: " : "source: ");
        const int to = axis_of(given[1].type, rank, swaps ? "axis2: " : "destination: ");
        if (swaps) {
            std::swap(axes[static_cast<size_t>(from)], axes[static_cast<size_t>(to)]);
        } else {
            axes.erase(axes.begin() + from);
            axes.insert(axes.begin() + to, from);
        }
        return with_axes(array, axes);
    }
    if (name == "expand_dims") {
        expect(1, 1);
        axes.insert(axes.begin() + axis_of(given[0].type, rank + 1), -1);
        return with_axes(array, axes);
    }
    expect(0, name == "flip" ? 1 : 0);
    if (name == "fliplr" && rank < 2) fail(where, "Input must be >= 2-d.");
    if (name == "flipud" && rank < 1) fail(where, "Input must be >= 1-d.");
    const bool all = name == "flip" && (given.empty() || given[0].type->kind == TypeKind::kNone);
    const int only = name == "flipud" ? 0 : name == "fliplr" ? 1 : all ? -1 : axis_of(given[0].type, rank);
    if (rank == 0) return load({array, {}});  // as NumPy, which gives the element
    std::vector<ValueId> shape, strides;
    ValueId offset = integer(0).parts[0];
    for (size_t d = 0; d < axes.size(); ++d) {
        shape.push_back(size_of(array, d));
        strides.push_back(stride_of(array, d));
        if (!all && static_cast<int>(d) != only) continue;
        const ValueId last = apply(
            OpId::kMaximum, {apply(OpId::kSubtract, {shape[d], integer(1).parts[0]}), integer(0).parts[0]});
        offset = apply(OpId::kAdd, {offset, apply(OpId::kMultiply, {last, strides[d]})});
        strides[d] = apply(OpId::kNegative, {strides[d]});
    }
    const bool contiguous = array.type->contiguous && !all && only + 1 < rank;
    return view(array, offset, shape, strides, contiguous, array.type->ordered);
}

}  // namespace weft::lang
