// numpy.sort, argsort and searchsorted.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

Value FunctionLowering::ArrayFunctions::sorted(const Value& array, size_t axis, bool places) {
    const Value out = places ? f_.allocate(ScalarType::kInt64, shape_of(array), where_)
                             : f_.allocate_as(array, array.type->scalar, where_);
    const std::array arguments = {out, array, f_.integer(static_cast<int64_t>(axis))};
    answer(places ? "argsort" : "sort", arguments);
    return out;
}

Value FunctionLowering::ArrayFunctions::searched() {
    const std::vector<Value> given = bind("a v side? sorter!");
    const std::string side = text(given[2], "left");
    if (side != "left" && side != "right") f_.fail(where_, "search side must be 'left' or 'right'");
    const Value row = array(given[0]);
    if (row.type->rank != 1) f_.fail(where_, "object of too small depth for desired array");
    const bool is_number = is_scalar(given[1].type);
    const std::array types = {
        OperandType(DType(row.type->scalar)),
        is_number ? operand_type(given[1].type) : OperandType(DType(array(given[1]).type->scalar))};
    const ScalarType common = result_type(types).scalar_type();
    const Value values = array(given[1], common);
    const Value positions = f_.allocate(ScalarType::kInt64, shape_of(values), where_);
    const std::array arguments = {positions, array(row, common), values, f_.integer(side == "right" ? 1 : 0)};
    answer("search_sorted", arguments);
    return element_or_array(positions);
}

// By the last key first: sorts by each in turn, which keep the order of equal elements.
Value FunctionLowering::ArrayFunctions::sorted_by_keys() {
    const std::vector<Value> given = bind("keys axis!");
    if (given[0].type->kind != TypeKind::kTuple) {
        const Value keys = array(given[0]);
        if (keys.type->rank != 2)
            f_.fail(where_,
                    "lexsort() takes a tuple of rows, or an array of two dimensions, in a compiled function");
        return prelude("places_by_rows", {keys});
    }
    if (given[0].type->parts.empty()) f_.fail(where_, "need sequence of keys with len > 0 in lexsort");
    Value places;
    for (size_t k = 0; k < given[0].type->parts.size(); ++k) {
        const Value key = array(f_.tuple_item(given[0], k));
        if (key.type->rank != 1)
            f_.fail(where_, "lexsort() takes keys of one dimension in a compiled function");
        places = k == 0 ? sorted(key, 0, true) : prelude("places_by", {key, places});
    }
    return places;
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_ordering() {
    if (name_ == "searchsorted") return searched();
    if (name_ == "lexsort") return sorted_by_keys();
    if (name_ != "sort" && name_ != "argsort") return std::nullopt;
    const std::vector<Value> given = bind("a axis? kind? order! stable?");
    Value of = array(given[0]);
    const bool has_axis = std::any_of(given_.keywords.begin(), given_.keywords.end(),
                                      [](const auto& keyword) { return keyword.first == "axis"; }) ||
                          given_.positional.size() > 1;
    if (has_axis && is_none(given[1])) of = f_.ravelled(of, where_);
    if (of.type->rank == 0) f_.fail(where_, "axis -1 is out of bounds for array of dimension 0");
    return sorted(of, axis(given[1], of.type->rank), name_ == "argsort");
}

}  // namespace weft::lang
