// numpy.pad: an axis after the other, whose new places the prelude fills.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// As `padded_into` of the prelude numbers them.
constexpr std::array<std::string_view, 6> kModes = {"constant", "empty",   "edge",
                                                    "wrap",     "reflect", "symmetric"};

}  // namespace

// What is before and behind each axis: a number, a pair, or a pair for each axis.
std::vector<std::pair<Value, Value>> FunctionLowering::ArrayFunctions::sides_of(const Value& given,
                                                                                size_t rank) {
    const auto parts_of = [&](const Value& value) {
        std::vector<Value> parts;
        if (value.type->kind == TypeKind::kTuple) {
            for (size_t i = 0; i < value.type->parts.size(); ++i) parts.push_back(f_.tuple_item(value, i));
        }
        return parts;
    };
    const auto pair_of = [&](const Value& value) -> std::pair<Value, Value> {
        const std::vector<Value> parts = parts_of(value);
        if (is_scalar(value.type)) return {value, value};
        if (parts.size() == 1 && is_scalar(parts[0].type)) return {parts[0], parts[0]};
        if (parts.size() != 2 || !is_scalar(parts[0].type) || !is_scalar(parts[1].type))
            f_.fail(where_, "pad() takes a number, a pair, or a pair for each of " + std::to_string(rank) +
                                " axes, not " + lang::describe(given.type));
        return {parts[0], parts[1]};
    };
    const std::vector<Value> parts = parts_of(given);
    const bool of_axes = !parts.empty() && parts[0].type->kind == TypeKind::kTuple;
    if (!of_axes || parts.size() == 1)
        return std::vector<std::pair<Value, Value>>(rank, pair_of(of_axes ? parts[0] : given));
    if (parts.size() != rank)
        f_.fail(where_, "pad() is given sides of " + std::to_string(parts.size()) + " axes for " +
                            std::to_string(rank));
    std::vector<std::pair<Value, Value>> result;
    for (const Value& part : parts) result.push_back(pair_of(part));
    return result;
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_padding() {
    if (name_ != "pad") return std::nullopt;
    const std::vector<Value> given = bind("array pad_width mode? constant_values?");
    Value padded = array(given[0]);
    const std::string mode = text(given[2], "constant");
    const auto* const found = std::find(kModes.begin(), kModes.end(), mode);
    if (found == kModes.end())
        f_.fail(where_, "pad() has no mode '" + mode + "' in a compiled function",
                "It has constant, empty, edge, wrap, reflect and symmetric.");
    if (!is_none(given[3]) && mode != "constant")
        f_.fail(where_, "unsupported keyword arguments for mode '" + mode + "': {'constant_values'}");
    const size_t rank = padded.type->rank;
    const auto widths = sides_of(given[1], rank);
    const auto values = sides_of(is_none(given[3]) ? f_.integer(0) : given[3], rank);
    for (size_t d = 0; d < rank; ++d) {
        const Value before = whole(f_.as_index(widths[d].first, where_));
        const Value behind = whole(f_.as_index(widths[d].second, where_));
        for (const Value* width : {&before, &behind})
            f_.check(f_.apply(OpId::kGreaterEqual, {width->parts[0], f_.integer(0).parts[0]}),
                     f_.site("ValueError", "index can't contain negative values"), {}, where_);
        std::vector<ValueId> shape = shape_of(padded);
        shape[d] = f_.apply(OpId::kAdd, {f_.apply(OpId::kAdd, {shape[d], before.parts[0]}), behind.parts[0]});
        std::vector<int> axes = {static_cast<int>(d)};
        for (size_t other = 0; other < rank; ++other) {
            if (other != d) axes.push_back(static_cast<int>(other));
        }
        const Value out = f_.allocate(padded.type->scalar, shape, where_);
        prelude("padded_into",
                {f_.with_axes(padded, axes), f_.with_axes(out, axes), before,
                 whole(f_.integer(found - kModes.begin()).parts[0]), values[d].first, values[d].second});
        padded = out;
    }
    return padded;
}

}  // namespace weft::lang
