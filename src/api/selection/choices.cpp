#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/recording/host_row.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/selection.h"

namespace weft {

namespace {

constexpr size_t kMostCompared = 8;  // choices; of more, the chosen ones are read where they are

array as(const array& value, DType dtype) { return value.dtype() == dtype ? value : astype(value, dtype); }

array where(const array& condition, const array& yes, const array& no) {
    const Argument inputs[] = {condition, yes, no};
    return call(op_info(OpId::kSelect), inputs)[0];
}

Dims common_shape(const array& a, std::span<const array> choices) {
    std::vector<const Dims*> shapes{&a.shape()};
    for (const array& choice : choices) shapes.push_back(&choice.shape());
    return broadcast_shapes(shapes);
}

// The positions among `count` choices, from 0 on.
array chosen(const array& a, int64_t count, TakeMode mode, const Dims& shape) {
    switch (mode) {
        case TakeMode::kWrap: return remainder(a, count);
        case TakeMode::kClip: return maximum(minimum(a, count - 1), 0);
        default: break;
    }
    if (a.size() == 0 || element_count(shape) == 0) return a;
    bool are_valid = true;
    if (device_of(a).is_cpu()) {
        const HostRow row(a);
        const auto* const first = row.as<int64_t>();
        are_valid =
            std::all_of(first, first + row.count(), [&](int64_t each) { return each >= 0 && each < count; });
    } else {
        are_valid = truth_of(greater_equal(min(a), 0)) && truth_of(less(max(a), count));
    }
    if (!are_valid) throw ValueError("invalid entry in choice array");
    return a;
}

}  // namespace

array choose(const array& a, std::span<const array> given, TakeMode mode, const array& out) {
    if (!can_cast(a.dtype(), ScalarType::kInt64, Casting::kSafe)) {
        throw TypeError("Cannot cast array data from dtype('" + std::string(a.dtype().name()) +
                        "') to dtype('int64') according to the rule 'safe'");
    }
    if (given.empty()) throw ValueError("need at least one array to choose from");
    const DeviceScope scope(device_of(a));
    const Dims shape = common_shape(a, given);
    std::vector<OperandType> types;
    for (const array& choice : given) types.emplace_back(choice.dtype());
    const DType dtype = result_type(types);
    const array which = chosen(as(a, ScalarType::kInt64), static_cast<int64_t>(given.size()), mode, shape);
    array result;
    if (given.size() <= kMostCompared) {
        result = as(given.back(), dtype);
        for (size_t k = given.size() - 1; k-- > 0;)
            result = where(equal(which, static_cast<int64_t>(k)), as(given[k], dtype), result);
        if (result.shape() != shape) result = broadcast_to(result, shape);
        if (given.size() == 1) result = copy(result, 'C');
    } else {
        std::vector<array> table;
        for (const array& choice : given) table.push_back(broadcast_to(as(choice, dtype), shape));
        const array places = expand_dims(broadcast_to(which, shape), Dims{0});
        const Index first[] = {Index(int64_t{0})};
        result = index(take_along_axis(stack(table), places, 0), first);
    }
    if (out.valid()) {
        assign(out, result, Casting::kUnsafe);
        return out;
    }
    return result.c_contiguous() ? result : copy(result, 'C');
}

array select(std::span<const array> conditions, std::span<const Argument> choices,
             const Argument& otherwise) {
    if (conditions.size() != choices.size())
        throw ValueError("list of cases must be same length as list of conditions");
    if (conditions.empty()) throw ValueError("select with an empty condition list is not possible");
    std::vector<OperandType> types;
    for (const Argument& choice : choices) types.push_back(operand_type(choice));
    types.push_back(operand_type(otherwise));
    DType dtype;
    try {
        dtype = result_type(types);
    } catch (const TypeError& error) {
        throw TypeError(std::string("Choicelist and default value do not have a common dtype: ") +
                        error.what());
    }
    for (size_t k = 0; k < conditions.size(); ++k) {
        if (!conditions[k].dtype().is_bool()) {
            throw TypeError("invalid entry " + std::to_string(k) + " in condlist: should be boolean ndarray");
        }
    }
    const DeviceScope scope(device_of(conditions[0]));
    const auto made = [&](const Argument& choice) {
        const auto* value = std::get_if<array>(&choice);
        return value != nullptr ? as(*value, dtype) : from_argument(choice, dtype);
    };
    array result = made(otherwise);
    for (size_t k = conditions.size(); k-- > 0;) result = where(conditions[k], made(choices[k]), result);
    return result.c_contiguous() ? result : copy(result, 'C');
}

array piecewise(const array& x, std::span<const array> given, std::span<const PiecewiseFunction> functions) {
    std::vector<array> conditions;
    for (const array& condition : given) conditions.push_back(as(condition, ScalarType::kBool));
    const size_t count = conditions.size();
    if (functions.size() == count + 1 && count > 0) {
        array held = conditions[0];
        for (size_t k = 1; k < count; ++k) held = logical_or(held, conditions[k]);
        conditions.push_back(logical_not(held));
    } else if (functions.size() != count) {
        throw ValueError("with " + std::to_string(count) + " condition(s), either " + std::to_string(count) +
                         " or " + std::to_string(count + 1) + " functions are expected");
    }
    const DeviceScope scope(device_of(x));
    const array result = zeros_like(x);
    for (size_t k = 0; k < functions.size(); ++k) {
        const Index where_true[] = {conditions[k]};
        if (const auto* constant = std::get_if<Argument>(&functions[k])) {
            assign_at(result, where_true, *constant);
            continue;
        }
        const array some = index(x, where_true);
        if (some.size() != 0)
            assign_at(result, where_true,
                      std::get<std::function<Argument(const array&)>>(functions[k])(some));
    }
    return result;
}

}  // namespace weft
