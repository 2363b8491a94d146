// NumPy's functions that show an array with other axes: views, but where reshape() and outer() need a copy.
#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

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
    for (const auto& [keyword, value] : rest.keywords) {
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
    const auto axis_of = [&](TypeRef type, int64_t most) {
        const std::optional<int64_t> number = literal_integer(type);
        if (!number)
            fail(where, "the axis of " + name + "() has to be known when the function is compiled",
                 "Write it as a number, or as a default that calls leave out.");
        if (*number < -most || *number >= most)
            fail(where, "axis " + std::to_string(*number) + " is out of bounds for array of dimension " +
                            std::to_string(most));
        return static_cast<int>(*number < 0 ? *number + most : *number);
    };
    std::vector<int> axes;
    for (int d = 0; d < rank; ++d) axes.push_back(d);
    if (name == "reshape") {
        expect(1, 1);
        return reshaped(ravelled(array, where), given, where);
    }
    if (name == "ravel") {
        expect(0, 0);
        return ravelled(array, where);
    }
    if (name == "outer") {
        expect(1, 1);
        const Value other = is_array(given[0].type) ? given[0] : array_of(given[0], std::nullopt, where);
        const std::array operands = {with_axes(ravelled(array, where), std::array{0, -1}),
                                     ravelled(other, where)};
        return array_operation(op_info(OpId::kMultiply), operands, where);
    }
    if (name == "transpose") {
        if (given.size() == 1 && given[0].type->kind == TypeKind::kTuple) {
            const Value whole = given[0];
            given.clear();
            for (size_t k = 0; k < whole.type->parts.size(); ++k) given.push_back(tuple_item(whole, k));
        }
        if (given.empty() || given[0].type->kind == TypeKind::kNone) return transposed(array);
        std::vector<int> order;
        for (const Value& value : given) order.push_back(axis_of(value.type, rank));
        std::vector<int> sorted = order;
        std::sort(sorted.begin(), sorted.end());
        if (sorted != axes) fail(where, "axes don't match array");
        return with_axes(array, order);
    }
    if (name == "swapaxes" || name == "moveaxis") {
        expect(2, 2);
        const int from = axis_of(given[0].type, rank), to = axis_of(given[1].type, rank);
        if (name == "swapaxes") {
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
    if (rank == 0) return array;
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
    return view(array, offset, shape, strides, contiguous);
}

}  // namespace weft::lang
