// Operators and element-wise functions of whole arrays: loops that fill a new array, or one that is given.
#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

bool any_array(std::span<const Value> operands) {
    return std::any_of(operands.begin(), operands.end(),
                       [](const Value& operand) { return is_array(operand.type); });
}

}  // namespace

// The shape that the arrays among the operands have together.
std::vector<ValueId> FunctionLowering::broadcast_shape(std::span<const Value> operands, NodeId where) {
    size_t rank = 0;
    for (const Value& operand : operands) {
        if (is_array(operand.type)) rank = std::max<size_t>(rank, operand.type->rank);
    }
    std::vector<ValueId> shape(rank);
    if (dry_) return shape;
    const ValueId one = integer(1).parts[0];
    // NumPy's text, which names all shapes.
    const TypeRef whole = scalar_type(ScalarType::kInt64, true);
    std::string text = "operands could not be broadcast together with shapes ";
    std::vector<ValueId> sizes;
    for (const Value& operand : operands) {
        if (!is_array(operand.type) && !is_scalar(operand.type)) continue;
        const size_t own = is_array(operand.type) ? operand.type->rank : 0;
        text += "(";
        for (size_t d = 0; d < own; ++d) {
            text += d == 0 ? "{}" : ",{}";
            sizes.push_back(size_of(operand, d));
        }
        text += own == 1 ? ",) " : ") ";
    }
    Site shapes = site("ValueError", {});
    shapes.kind = SiteKind::kTold;
    shapes.told = {format_type(std::move(text), std::vector<TypeRef>(sizes.size(), whole))};
    for (const Value& operand : operands) {
        if (!is_array(operand.type)) continue;
        const size_t missing = rank - operand.type->rank;
        for (size_t d = 0; d < operand.type->rank; ++d) {
            ValueId& both = shape[missing + d];
            const ValueId size = size_of(operand, d);
            if (!both.valid()) both = size;
            if (both == size || is_single(size)) continue;
            if (is_single(both)) {
                both = size;
                continue;
            }
            const ValueId is_one = builder_->apply(OpId::kEqual, {both, one});
            const ValueId result = builder_->apply(OpId::kSelect, {is_one, size, both});
            check(builder_->apply(OpId::kLogicalOr, {builder_->apply(OpId::kEqual, {size, one}),
                                                     builder_->apply(OpId::kEqual, {size, result})}),
                  shapes, sizes, where);
            note(result, {0, int64_t{1} << 62, {}, 0});
            both = result;
        }
    }
    return shape;
}

void FunctionLowering::refuse_rank(const Value& target, size_t rank, NodeId where) const {
    fail(where, "an array of " + std::to_string(target.type->rank) +
                    " dimensions does not hold a result of " + std::to_string(rank));
}

// What `each` gives of the elements, in `target` or in a new array.
Value FunctionLowering::elementwise(std::span<const Value> operands,
                                    const std::function<Value(std::span<const Value>)>& each, NodeId where,
                                    const std::optional<Value>& target) {
    const bool defers = std::exchange(defers_, false);
    TypeRef element = nullptr;
    {
        const DryRun dry(*this);
        std::vector<Value> elements;
        for (const Value& operand : operands)
            elements.push_back(is_array(operand.type) ? scalar(scalar_type(operand.type->scalar), {})
                                                      : operand);
        element = each(elements).type;
    }
    if (!is_scalar(element))
        fail(where, "an array of " + lang::describe(element) + " is not made in a compiled function");
    std::vector<Value> shaped(operands.begin(), operands.end());
    if (target) shaped.push_back(*target);
    const std::vector<ValueId> shape = broadcast_shape(shaped, where);
    if (target && target->type->rank != shape.size()) refuse_rank(*target, shape.size(), where);
    if (target && !can_cast(DType(element->scalar), DType(target->type->scalar), Casting::kSameKind))
        fail(where, lang::describe(element) + " is not stored in " + lang::describe(target->type),
             "Convert it, as by .astype().");
    // What is repeated is computed once.
    std::vector<Value> given(operands.begin(), operands.end());
    for (Value& operand : given) {
        if (operand.deferred == nullptr) continue;
        bool repeats = operand.type->rank != shape.size();
        for (size_t d = 0; d < operand.type->rank && !repeats; ++d)
            repeats = is_single(operand.deferred->shape[d]) && !is_single(shape[d]);
        if (repeats) operand = forced(operand);
    }
    if (dry_) {
        Value result = target ? *target : allocate(element->scalar, shape, where);
        if (!target && !are_ordered(given)) result = without_order(std::move(result));
        for_each_element(result, [&](std::span<const ValueId> indices) {
            std::vector<Value> elements;
            for (const Value& operand : given)
                elements.push_back(element_for(operand, shape, indices, /*repeats=*/false));
            store({result, {indices.begin(), indices.end()}}, each(elements), where);
        });
        return shape.empty() && !target ? load({result, {}}) : result;
    }
    const Value deferred = defer(element, shape, given, each, where);
    if (target) {
        for (size_t d = 0; d < shape.size(); ++d) {
            Site shapes = site("ValueError", {});
            shapes.kind = SiteKind::kBroadcast;
            shapes.axis = static_cast<int>(d);
            check(builder_->apply(OpId::kEqual, {size_of(*target, d), shape[d]}), std::move(shapes),
                  {shape[d], size_of(*target, d)}, where);
        }
        compute_into(*target, deferred, {}, [&] { repeat_into(*target, *deferred.deferred); });
        return *target;
    }
    if (shape.empty()) return load({forced(deferred), {}});  // NumPy gives scalars
    return defers ? deferred : forced(deferred);
}

// Whether it is one of whole arrays.
std::optional<Value> FunctionLowering::array_operation(const OpInfo& op, std::span<const Value> operands,
                                                       NodeId where, const std::optional<Value>& target) {
    if (!any_array(operands) && !target) return std::nullopt;
    for (const Value& operand : operands) {
        if (!is_array(operand.type) && !is_scalar(operand.type))
            fail(where,
                 std::string(op.numpy_name) + " is not compiled for " + lang::describe(operand.type) +
                     " beside an array",
                 "Make an array of it: np.array(...).");
    }
    std::vector<Value> given(operands.begin(), operands.end());
    fit_python_integers(op, given, where);
    const bool is_power = op.id == OpId::kPower;
    if (is_power && is_array(operands[0].type) && operands[0].type->scalar == ScalarType::kBool)
        fail(where, "** of an array of bool is not compiled: its type hangs on the exponent",
             "Convert it: a.astype(np.int64).");
    // What may raise does so before what follows.
    const bool may_raise =
        is_power && std::all_of(operands.begin(), operands.end(), [](const Value& operand) {
            return DType(operand.type->scalar).is_integer() || DType(operand.type->scalar).is_bool();
        });
    const auto each = [this, &op, is_power, where](std::span<const Value> elements) -> Value {
        if (is_power && literal_integer(elements[1].type) == 2 && !is_bool(elements[0].type))
            return by_loop(op_info(OpId::kMultiply), std::array{elements[0], elements[0]}, where);
        if (is_power && integer_type(elements[0].type, elements[1].type) != nullptr) {
            const Value holds = compare("ge", elements[1], integer(0), where);
            check(dry_ ? ValueId{} : holds.parts[0],
                  site("ValueError", "Integers to negative integer powers are not allowed."), {}, where);
        }
        return by_loop(op, elements, where);
    };
    if (may_raise) defers_ = false;
    return elementwise(given, each, where, target);
}

// Python's integers beside arrays of narrow ones have to fit.
void FunctionLowering::fit_python_integers(const OpInfo& op, std::span<const Value> operands, NodeId where) {
    std::vector<OperandType> types;
    for (const Value& operand : operands)
        types.push_back(is_array(operand.type) ? OperandType(DType(operand.type->scalar))
                                               : operand_type(operand.type));
    const LoopInfo* loop = nullptr;
    try {
        loop = &resolve_loop(op, types);
    } catch (const TypeError&) {
        return;  // which is an error of the elements
    }
    for (size_t i = 0; i < operands.size(); ++i) {
        const DType to(loop->types[i]);
        const Value& operand = operands[i];
        if (!is_scalar(operand.type) || !operand.type->weak || operand.type->scalar != ScalarType::kInt64 ||
            !to.is_integer() || to == DType(ScalarType::kInt64))
            continue;
        const bool is_signed = to.is_signed_integer();
        const int64_t bits = 8 * to.itemsize() - (is_signed ? 1 : 0);
        const int64_t most = bits > 62 ? INT64_MAX : (int64_t{1} << bits) - 1;
        const ValueId low =
            apply(OpId::kLessEqual, {integer(is_signed ? -most - 1 : 0).parts[0], operand.parts[0]});
        const ValueId high = apply(OpId::kLessEqual, {operand.parts[0], integer(most).parts[0]});
        check(apply(OpId::kLogicalAnd, {low, high}),
              site("OverflowError", "a Python integer is out of bounds for " + std::string(to.name())), {},
              where);
    }
}

// Whether elements may be read after others were written: an operand may be another part of the memory.
bool FunctionLowering::may_overlap(std::span<const Value> operands, const Value& target) const {
    return std::any_of(operands.begin(), operands.end(), [&](const Value& operand) {
        if (operand.deferred != nullptr) return may_overlap(operand.deferred->operands, target);
        return is_array(operand.type) && operand.type->scope == target.type->scope &&
               (dry_ || operand.parts != target.parts || operand.type != target.type);
    });
}

// op(..., out=target)
Value FunctionLowering::store_operation(const OpInfo& op, std::span<const Value> operands,
                                        const Value& target, NodeId where) {
    if (target.type->readonly) fail(where, "the array is read-only", "Give the function a copy.");
    if (!may_overlap(operands, target)) return *array_operation(op, operands, where, target);
    const std::optional<Value> made = array_operation(op, operands, where);
    const Value result = made ? *made : by_loop(op, operands, where);
    if (is_array(result.type) && result.type->rank > target.type->rank)
        refuse_rank(target, result.type->rank, where);
    if (!can_cast(DType(result.type->scalar), DType(target.type->scalar), Casting::kSameKind))
        fail(where, lang::describe(result.type) + " is not stored in " + lang::describe(target.type),
             "Convert it, as by .astype().");
    store_part(target, result, where);
    return target;
}

// a += b of an array changes it, and makes no other.
void FunctionLowering::augment_array(const Value& array, const std::string& name, const Value& given,
                                     NodeId where) {
    const Value right = required(given, where);
    if (right.type->kind == TypeKind::kNever) return;
    const std::array operands = {array, right};
    store_operation(operation_of(name, where), operands, array, where);
}

// numpy.where(condition, x, y)
Value FunctionLowering::call_where(const Arguments& arguments) {
    const NodeId where = arguments.where;
    expect_arguments("where", arguments, 3, 3);
    Arguments given = arguments;
    for (Value& value : given.positional) {
        if (is_list(value.type) || (value.type->kind == TypeKind::kTuple && value.type->record == nullptr))
            value = array_of(value, std::nullopt, where);
        if (!is_array(value.type) && !is_scalar(value.type))
            fail(where, "where() takes arrays and numbers, not " + lang::describe(value.type));
    }
    const auto choose = [this, where](std::span<const Value> values) {
        const std::array types = {operand_type(values[1].type), operand_type(values[2].type)};
        const ScalarType made = result_type(types).scalar_type();
        return scalar(scalar_type(made), apply(OpId::kSelect, {truth(values[0], where), cast(values[1], made),
                                                               cast(values[2], made)}));
    };
    const Deferring result(*this, arguments.defers);
    if (any_array(given.positional)) return elementwise(given.positional, choose, where);
    return choose(given.positional);
}

// a.ravel(): a view where the elements lie in order, else a copy.
Value FunctionLowering::ravelled(const Value& array, NodeId where) {
    if (array.type->rank == 1 && array.type->contiguous) return array;
    const auto of_copy = [&] {
        std::vector<ValueId> shape;
        for (size_t d = 0; d < array.type->rank; ++d) shape.push_back(size_of(array, d));
        return reshaped(copied(array, shape, where), {integer(-1)}, where);
    };
    TypeRef type = nullptr;
    {
        const DryRun dry(*this);
        type = joined(reshaped(array, {integer(-1)}, where, /*lies=*/true).type, of_copy().type);
    }
    Value result{type, std::vector<ValueId>(part_count(type)), 0, true};
    if (dry_) return result;
    const auto side = [&](const std::function<Value()>& make) -> ir::Builder::Body {
        return [&, make](ir::Builder&, std::span<const ValueId>) {
            const size_t temporaries = temporaries_.size();
            std::vector<ValueId> parts = convert(kept(make()), type, where).parts;
            end_temporaries(temporaries);
            return parts;
        };
    };
    result.parts = builder_->if_else(
        lies_in_order(array, false).parts[0],
        side([&] { return reshaped(array, {integer(-1)}, where, /*lies=*/true); }), side(of_copy),
        /*likely=*/true);
    add_temporary(result);
    return result;
}

// numpy.linspace, eye, identity.
Value FunctionLowering::call_made(const std::string& name, const Arguments& given) {
    const NodeId where = given.where;
    std::vector<Value> arguments = given.positional;
    const std::vector<std::string> names =
        name == "linspace" ? std::vector<std::string>{"start", "stop", "num", "endpoint", "retstep"}
        : name == "eye"    ? std::vector<std::string>{"N", "M", "k", "dtype"}
                           : std::vector<std::string>{"n", "dtype"};
    const size_t least = name == "linspace" ? 2 : 1;
    arguments.resize(names.size(), none());
    if (given.positional.size() + given.keywords.size() < least || given.positional.size() > names.size())
        expect_arguments(name, given, least, names.size());
    for (const auto& [keyword, value] : given.keywords) {
        const auto at = std::find(names.begin(), names.end(), keyword);
        if (at == names.end())
            fail(where, name + "() takes no keyword '" + keyword + "' in a compiled function");
        arguments[static_cast<size_t>(at - names.begin())] = value;
    }
    for (size_t i = 0; i < least; ++i) {
        if (arguments[i].type->kind == TypeKind::kNone) fail(where, name + "() needs '" + names[i] + "'");
    }
    if (name == "linspace") {
        if (arguments[2].type->kind == TypeKind::kNone) arguments[2] = integer(50);
        bool complex = false;
        for (size_t i = 0; i < 2; ++i) {
            if (!is_scalar(arguments[i].type)) fail(where, "linspace() is compiled for numbers");
            complex |= is_complex(arguments[i].type);
        }
        const ScalarType made = complex ? ScalarType::kComplex128 : ScalarType::kFloat64;
        for (size_t i = 0; i < 2; ++i)
            arguments[i] = scalar(scalar_type(made, true), cast(arguments[i], made));
        const Value values = allocate(made, std::array{as_index(arguments[2], where)}, where);
        arguments[2] = values;
        if (arguments[3].type->kind == TypeKind::kNone) arguments[3] = boolean(true);
        const Value tells_step = arguments[4];
        arguments.pop_back();
        call_prelude("numpy.fill_evenly", {arguments, {}, where});
        if (tells_step.type->kind == TypeKind::kNone) return values;
        if (!literal_integer(tells_step.type))
            fail(where, "retstep has to be known when the function is compiled", "Write True or False.");
        if (*literal_integer(tells_step.type) == 0) return values;
        return tuple({values, call_prelude("numpy.step_evenly", {arguments, {}, where})});
    }
    const auto dtype = dtype_of(arguments.back(), where).value_or(ScalarType::kFloat64);
    const ValueId rows = as_index(arguments[0], where);
    const bool has_columns = name == "eye" && arguments[1].type->kind != TypeKind::kNone;
    const Value values =
        allocate(dtype, std::array{rows, has_columns ? as_index(arguments[1], where) : rows}, where);
    fill(values, integer(0), where);
    const bool has_k = name == "eye" && arguments[2].type->kind != TypeKind::kNone;
    const Value k =
        has_k ? scalar(scalar_type(ScalarType::kInt64, true), as_index(arguments[2], where)) : integer(0);
    call_prelude("numpy.fill_diagonal", {{values, k}, {}, where});
    return values;
}

}  // namespace weft::lang
