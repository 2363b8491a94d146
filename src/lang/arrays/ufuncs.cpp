#include "lang/arrays/ufuncs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lang/errors/argument_errors.h"
#include "lang/prelude.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr std::string_view kMethods[] = {"reduce", "accumulate", "reduceat", "outer", "at"};

// NumPy's reductions that have loops of their own.
struct KnownReduction {
    OpId op;
    std::string_view name;
    bool takes_start;  // op(initial, what the elements come to) is what NumPy computes
};
constexpr KnownReduction kReductions[] = {
    {OpId::kAdd, "sum", true},      {OpId::kMultiply, "prod", true},   {OpId::kMinimum, "min", false},
    {OpId::kMaximum, "max", false}, {OpId::kLogicalAnd, "all", false}, {OpId::kLogicalOr, "any", false},
};

bool is_logical(OpId op) {
    return op == OpId::kLogicalAnd || op == OpId::kLogicalOr || op == OpId::kLogicalXor;
}

const OpInfo* op_of(const Symbol& symbol) {
    if (symbol.kind != SymbolKind::kKnown || !symbol.path.starts_with("numpy.")) return nullptr;
    const std::string_view name = std::string_view(symbol.path).substr(std::string_view("numpy.").size());
    if (name != "abs" && DType::find(name) != nullptr) return nullptr;
    const OpInfo* const op = find_op(name);
    return op != nullptr && op->flags.is_ufunc ? op : nullptr;
}

}  // namespace

FunctionLowering::Ufuncs::Ufuncs(FunctionLowering& lowering, const Value& callee, NodeId where)
    : f_(lowering),
      callee_(callee),
      symbol_(callee.type->symbol),
      op_(op_of(*callee.type->symbol)),
      where_(where) {}

FunctionLowering::Ufuncs::Ufuncs(FunctionLowering& lowering, const OpInfo& op, NodeId where)
    : f_(lowering), op_(&op), where_(where) {}

bool FunctionLowering::Ufuncs::is_ufunc(const Value& value) {
    if (value.type->kind != TypeKind::kSymbol) return false;
    const Symbol& symbol = *value.type->symbol;
    return symbol.ufunc != nullptr || op_of(symbol) != nullptr;
}

bool FunctionLowering::Ufuncs::has_method(const std::string& name) {
    return std::find(std::begin(kMethods), std::end(kMethods), name) != std::end(kMethods);
}

std::string FunctionLowering::Ufuncs::name() const {
    if (is_numpys()) return std::string(op_->numpy_name);
    return symbol_->function != nullptr ? symbol_->function->name : symbol_->name;
}

std::optional<Value> FunctionLowering::Ufuncs::attribute(const std::string& name) {
    const size_t inputs = is_numpys() ? op_->nin : symbol_->ufunc->inputs;
    const size_t outputs = is_numpys() ? op_->nout : symbol_->ufunc->outputs;
    if (name == "nin") return f_.integer(static_cast<int64_t>(inputs));
    if (name == "nout") return f_.integer(static_cast<int64_t>(outputs));
    if (name == "nargs") return f_.integer(static_cast<int64_t>(inputs + outputs));
    if (name == "identity" && !has_identity()) return f_.none();
    if (name == "identity" && !is_numpys()) return f_.integer(*symbol_->ufunc->identity);
    if (name == "identity") {
        const Value number = identity(op_->identity == Identity::kMinusInfinity ? ScalarType::kFloat64
                                      : is_logical(op_->id)                     ? ScalarType::kBool
                                                                                : ScalarType::kInt64);
        return f_.scalar(scalar_type(number.type->scalar, true), number.parts[0]);
    }
    if (name == "signature")
        return is_numpys() || symbol_->ufunc->is_of_numbers()
                   ? f_.none()
                   : Value{string_type(symbol_->ufunc->layout), {}, 0};
    return std::nullopt;
}

// --- calls ----------------------------------------------------------------------------------------------

Value FunctionLowering::Ufuncs::cast_to(const Value& value, ScalarType type) {
    if (is_complex(value.type) && !DType(type).is_complex())
        f_.fail(where_, lang::describe(value.type) + " is not cast to " + std::string(DType(type).name()) +
                            " by " + name() + "()");
    return f_.scalar(scalar_type(type), f_.cast(value, type));
}

// That of the operands' own types, or else the first to which they can be cast safely.
const std::vector<UfuncFacts::Operand>* FunctionLowering::Ufuncs::loop_for(
    std::span<const Value> operands) const {
    for (const bool exactly : {true, false}) {
        for (const std::vector<Operand>& loop : symbol_->ufunc->loops) {
            bool fits = true;
            for (size_t i = 0; i < operands.size(); ++i) {
                const OperandType own = is_array(operands[i].type)
                                            ? OperandType(DType(operands[i].type->scalar))
                                            : operand_type(operands[i].type);
                const DType wanted(loop[i].type);
                fits &= exactly ? own.weak == WeakKind::kNone && own.dtype == wanted
                                : can_cast(own, wanted, Casting::kSafe);
            }
            if (fits) return &loop;
        }
    }
    return nullptr;
}

void FunctionLowering::Ufuncs::refuse_types(std::span<const Value> operands) const {
    std::string types;
    for (const Value& operand : operands) types += (types.empty() ? "" : ", ") + lang::describe(operand.type);
    f_.fail(where_,
            "ufunc '" + name() + "' not supported for the input types (" + types +
                "), and the inputs could not be safely coerced to any supported types",
            "Convert them, or give vectorize a signature for these types.");
}

Value FunctionLowering::Ufuncs::element(std::span<const Value> operands) {
    if (is_numpys()) {
        if (op_->id == OpId::kPower && integer_type(operands[0].type, operands[1].type) != nullptr) {
            const Value holds = f_.compare("ge", operands[1], f_.integer(0), where_);
            f_.check(f_.dry_ ? ValueId{} : holds.parts[0],
                     f_.site("ValueError", "Integers to negative integer powers are not allowed."), {},
                     where_);
        }
        Value result = f_.by_loop(*op_, operands, where_);
        if (is_scalar(result.type)) result.type = scalar_type(result.type->scalar);
        return result;
    }
    std::vector<Value> given(operands.begin(), operands.end());
    const std::vector<Operand>* loop = nullptr;
    const bool are_numbers =
        std::all_of(given.begin(), given.end(), [](const Value& value) { return is_scalar(value.type); });
    if (!symbol_->ufunc->loops.empty() && are_numbers && given.size() == symbol_->ufunc->inputs) {
        loop = loop_for(given);
        if (loop == nullptr) refuse_types(given);
        for (size_t i = 0; i < given.size(); ++i) given[i] = cast_to(given[i], (*loop)[i].type);
    }
    const Value result = f_.call_source(*symbol_->function, {}, {given, {}, where_, false});
    const size_t inputs = symbol_->ufunc->inputs;
    if (loop == nullptr || loop->size() == inputs) return result;
    if (is_scalar(result.type) && loop->size() == inputs + 1) return cast_to(result, loop->back().type);
    if (result.type->kind != TypeKind::kTuple || result.type->parts.size() != loop->size() - inputs)
        return result;
    std::vector<Value> items;
    for (size_t i = 0; i < result.type->parts.size(); ++i)
        items.push_back(cast_to(f_.tuple_item(result, i), (*loop)[inputs + i].type));
    return f_.tuple(std::move(items));
}

TypeRef FunctionLowering::Ufuncs::type_of_element(std::span<const Value> operands) {
    const DryRun dry(f_);
    std::vector<Value> elements;
    for (const Value& operand : operands)
        elements.push_back(is_array(operand.type) ? f_.scalar(scalar_type(operand.type->scalar), {})
                                                  : operand);
    return element(elements).type;
}

Value FunctionLowering::Ufuncs::call(const Arguments& given) {
    if (symbol_->function == nullptr) f_.fail(where_, symbol_->path);
    if (!symbol_->ufunc->is_of_numbers()) return call_generalized(given);
    std::vector<Value> operands = given.positional, outs;
    for (const auto& [keyword, value] : given.keywords) {
        if (keyword != "out") {
            if (std::ranges::none_of(operands, [](const Value& value) { return is_array(value.type); }))
                return f_.call_source(*symbol_->function, {}, given);
            f_.fail(where_, symbol_->name + "() of arrays takes no " + keyword + "= here",
                    "Call it outside, or store its result.");
        }
        if (value.type->kind == TypeKind::kTuple) {
            for (size_t i = 0; i < value.type->parts.size(); ++i) outs.push_back(f_.tuple_item(value, i));
        } else {
            outs.push_back(value);
        }
    }
    const size_t inputs = symbol_->ufunc->inputs;
    if (operands.size() > inputs && outs.empty()) {
        outs.assign(operands.begin() + static_cast<std::ptrdiff_t>(inputs), operands.end());
        operands.resize(inputs);
    }
    for (Value& operand : operands) {
        if (is_list(operand.type)) operand = f_.array_of(operand, std::nullopt, where_);
    }
    const bool has_array =
        std::ranges::any_of(operands, [](const Value& value) { return is_array(value.type); });
    if (!has_array && outs.empty()) return element(operands);
    for (const Value& out : outs) {
        if (!is_array(out.type) && out.type->kind != TypeKind::kNone)
            f_.fail(where_, "out is an array, not " + lang::describe(out.type));
    }
    const TypeRef result = type_of_element(operands);
    if (result->kind == TypeKind::kTuple && result->record == nullptr) return call_several(operands, outs);
    if (!is_scalar(result) && result->kind != TypeKind::kNever)
        f_.fail(where_, symbol_->name + "() of arrays gives " + lang::describe(result) + " for each element",
                "A function of whole arrays gives a number for each here.");
    if (outs.size() > 1) f_.fail(where_, wrong_count(name(), inputs, inputs + 1, inputs + outs.size()));
    const auto each = [self = *this](std::span<const Value> values) mutable { return self.element(values); };
    if (outs.empty() || outs[0].type->kind == TypeKind::kNone) {
        const Deferring later(f_, given.defers);
        return f_.elementwise(operands, each, where_);
    }
    f_.expect_writeable(outs[0].type, where_);
    if (!f_.may_overlap(operands, outs[0])) return f_.elementwise(operands, each, where_, outs[0]);
    return finished(f_.elementwise(operands, each, where_), outs[0], "");
}

Value FunctionLowering::Ufuncs::call_several(std::span<const Value> given, std::span<const Value> outs) {
    const TypeRef result = type_of_element(given);
    if (result->kind != TypeKind::kTuple || !std::ranges::all_of(result->parts, is_scalar))
        f_.fail(where_, name() + "() of arrays gives " + lang::describe(result) + " for each element");
    if (outs.size() > result->parts.size())
        f_.fail(where_, wrong_count(name(), given.size(), given.size() + result->parts.size(),
                                    given.size() + outs.size()));
    std::vector<Value> operands;
    for (const Value& operand : given) operands.push_back(f_.forced(operand));
    std::vector<Value> shaped = operands;
    std::copy_if(outs.begin(), outs.end(), std::back_inserter(shaped),
                 [](const Value& out) { return is_array(out.type); });
    const std::vector<ValueId> shape = f_.broadcast_shape(shaped, where_);
    std::vector<Value> targets;
    for (size_t k = 0; k < result->parts.size(); ++k) {
        const ScalarType type = result->parts[k]->scalar;
        if (k >= outs.size() || outs[k].type->kind == TypeKind::kNone) {
            targets.push_back(f_.allocate_for(operands, type, shape, where_));
            continue;
        }
        const Value& out = outs[k];
        if (!is_array(out.type)) f_.fail(where_, "out is an array, not " + lang::describe(out.type));
        f_.expect_writeable(out.type, where_);
        if (out.type->rank != shape.size()) f_.refuse_rank(out, shape.size(), where_);
        if (!can_cast(DType(type), DType(out.type->scalar), Casting::kSameKind))
            f_.fail(where_,
                    lang::describe(result->parts[k]) + " is not stored in " + lang::describe(out.type),
                    "Convert it, as by .astype().");
        for (size_t d = 0; d < shape.size() && !f_.dry_; ++d) {
            Site shapes = f_.site("ValueError", {});
            shapes.kind = SiteKind::kBroadcast;
            shapes.axis = static_cast<int>(d);
            f_.check(f_.apply(OpId::kEqual, {f_.size_of(out, d), shape[d]}), std::move(shapes),
                     {shape[d], f_.size_of(out, d)}, where_);
        }
        targets.push_back(f_.may_overlap(operands, out) ? f_.allocate(type, shape, where_) : out);
    }
    f_.for_each_place(shape, [&](std::span<const ValueId> indices) {
        const size_t temporaries = f_.temporaries_.size();
        std::vector<Value> elements;
        for (const Value& operand : operands)
            elements.push_back(f_.element_for(operand, shape, indices, /*repeats=*/true));
        const Value made = element(elements);
        for (size_t k = 0; k < targets.size(); ++k)
            f_.store({targets[k], {indices.begin(), indices.end()}}, f_.tuple_item(made, k), where_);
        f_.end_temporaries(temporaries);
    });
    std::vector<Value> results;
    for (size_t k = 0; k < targets.size(); ++k) {
        const bool is_given = k < outs.size() && is_array(outs[k].type);
        if (is_given && targets[k].parts != outs[k].parts) f_.store_part(outs[k], targets[k], where_);
        results.push_back(is_given ? outs[k] : shape.empty() ? f_.load({targets[k], {}}) : targets[k]);
    }
    return f_.tuple(std::move(results));
}

// --- methods --------------------------------------------------------------------------------------------

Value FunctionLowering::Ufuncs::call_method(const std::string& method, const Arguments& given) {
    if (!is_numpys() && symbol_->function == nullptr) f_.fail(where_, symbol_->path);
    if (!is_numpys() && !symbol_->ufunc->is_of_numbers())
        f_.fail(where_, name() + "() is a function of arrays, and has no " + method + "()");
    if (method == "at") return at(given);
    expect_binary(method);
    if (method == "reduce") return reduce(given);
    if (method == "accumulate") return accumulate(given);
    if (method == "reduceat") return reduceat(given);
    return outer(given);
}

void FunctionLowering::Ufuncs::expect_binary(const std::string& method) const {
    if ((is_numpys() ? op_->nin : symbol_->ufunc->inputs) != 2)
        f_.fail(where_, method + " only supported for binary functions");
    if (method != "outer" && (is_numpys() ? op_->nout : symbol_->ufunc->outputs) != 1)
        f_.fail(where_, method + " only supported for functions returning a single value");
}

std::vector<std::optional<Value>> FunctionLowering::Ufuncs::bind(const std::string& method,
                                                                 const Arguments& given,
                                                                 std::span<const std::string_view> parameters,
                                                                 size_t least) {
    if (given.positional.size() > parameters.size())
        f_.fail(where_, wrong_count(method, least, parameters.size(), given.positional.size()));
    std::vector<std::optional<Value>> found(parameters.size());
    std::copy(given.positional.begin(), given.positional.end(), found.begin());
    for (const auto& [keyword, value] : given.keywords) {
        const auto at = std::find(parameters.begin(), parameters.end(), keyword);
        if (at == parameters.end()) f_.fail(where_, unexpected_keyword(method, keyword));
        std::optional<Value>& place = found[static_cast<size_t>(at - parameters.begin())];
        if (place) f_.fail(where_, multiple_values(method, keyword));
        place = value;
    }
    for (size_t i = 0; i < least; ++i) {
        if (!found[i]) f_.fail(where_, method + "() needs '" + std::string(parameters[i]) + "'");
    }
    return found;
}

Value FunctionLowering::Ufuncs::array(const Value& given) {
    if (is_array(given.type)) return f_.forced(given);
    if (!is_scalar(given.type) && !is_list(given.type) && given.type->kind != TypeKind::kTuple)
        f_.fail(where_, name() + "() has no method for " + lang::describe(given.type), "Give an array.");
    return f_.array_of(given, std::nullopt, where_);
}

Value FunctionLowering::Ufuncs::of_type(const Value& array, ScalarType type) {
    if (array.type->scalar == type) return array;
    if (type != ScalarType::kBool) return f_.array_of(array, type, where_);
    const std::array operands = {array, f_.integer(0)};
    return f_.forced(*f_.array_operation(op_info(OpId::kNotEqual), operands, where_));
}

bool FunctionLowering::Ufuncs::has_identity() const {
    return is_numpys() ? op_->identity != Identity::kNone : symbol_->ufunc->identity.has_value();
}

bool FunctionLowering::Ufuncs::is_reorderable() const {
    if (has_identity()) return true;
    return is_numpys() ? op_->flags.idempotent || op_->numpy_name == "fmax" || op_->numpy_name == "fmin"
                       : symbol_->ufunc->is_reorderable;
}

Value FunctionLowering::Ufuncs::identity(ScalarType type) {
    if (!is_numpys()) return cast_to(f_.integer(*symbol_->ufunc->identity), type);
    switch (op_->identity) {
        case Identity::kOne: return cast_to(f_.integer(1), type);
        case Identity::kMinusOne: return cast_to(f_.integer(-1), type);
        case Identity::kMinusInfinity:
            return cast_to(f_.constant(Constant::of(ScalarType::kFloat64, -HUGE_VAL)), type);
        default: return cast_to(f_.integer(0), type);
    }
}

FunctionLowering::Ufuncs::Fold FunctionLowering::Ufuncs::fold_types(ScalarType given,
                                                                    const std::optional<Value>& dtype,
                                                                    const std::optional<Value>& out,
                                                                    const std::string& method) {
    std::optional<ScalarType> wanted = is_none(dtype) ? std::nullopt : f_.dtype_of(*dtype, where_);
    const auto refuse = [&] {
        f_.fail(where_, "No loop matching the specified signature and casting was found for ufunc " + name());
    };
    ScalarType first = wanted ? *wanted : is_none(out) ? given : out->type->scalar;
    Fold fold{first, first};
    const auto value = [&](ScalarType type) { return f_.scalar(scalar_type(type), {}); };
    if (is_numpys()) {
        if (is_logical(op_->id)) return {ScalarType::kBool, ScalarType::kBool};
        const DType dtype_of_elements(given);
        const bool is_wide = op_->id == OpId::kAdd || op_->id == OpId::kMultiply;
        if (is_wide && !wanted && is_none(out) &&
            (dtype_of_elements.is_bool() ||
             (dtype_of_elements.is_integer() && dtype_of_elements.itemsize() < 8)))
            wanted = dtype_of_elements.is_unsigned_integer() ? ScalarType::kUInt64 : ScalarType::kInt64;
        const std::array<OperandType, 2> types = {DType(wanted ? *wanted : first), DType(given)};
        const LoopInfo* loop = nullptr;
        try {
            loop = &resolve_loop(*op_, types, wanted ? std::optional<DType>(*wanted) : std::nullopt,
                                 Casting::kUnsafe);
        } catch (const TypeError&) {
            refuse();
        }
        if (loop->types[0] != loop->types[2] || (method != "reduce" && loop->types[0] != loop->types[1]))
            refuse();
        return {loop->types[0], loop->types[1]};
    }
    if (!symbol_->ufunc->loops.empty()) {
        for (const std::vector<Operand>& loop : symbol_->ufunc->loops) {
            const bool folds = loop.size() == 3 && loop[0].type == loop[2].type;
            if (wanted && folds && loop[0].type == *wanted) return {loop[0].type, loop[1].type};
        }
        const std::array operands = {value(first), value(given)};
        const std::vector<Operand>* const loop = loop_for(operands);
        if (loop == nullptr) refuse_types(operands);
        if (loop->size() > 2 && (*loop)[0].type != (*loop)[2].type)
            f_.fail(where_, "the resolved dtypes are not compatible with " + name() + "." + method);
        return {(*loop)[0].type, (*loop)[1].type};
    }
    const std::array operands = {value(first), value(first)};
    const TypeRef result = type_of_element(operands);
    if (result->kind == TypeKind::kNever) return fold;
    if (!is_scalar(result))
        f_.fail(where_, method + " only supported for functions returning a single value");
    if (!wanted) fold = {result->scalar, result->scalar};
    return fold;
}

// An axis as a number from 0 on; what it is, where that is known.
FunctionLowering::Ufuncs::Axis FunctionLowering::Ufuncs::axis_of(const Value& given, size_t rank) {
    const auto most = static_cast<int64_t>(rank);
    if (const std::optional<int64_t> number = literal_integer(given.type)) {
        if (*number < -most || *number >= most)
            f_.fail(where_, "axis " + std::to_string(*number) + " is out of bounds for array of dimension " +
                                std::to_string(rank));
        const int64_t axis = *number < 0 ? *number + most : *number;
        return {f_.integer(axis).parts[0], static_cast<size_t>(axis)};
    }
    if (!is_integer(given.type)) f_.fail(where_, "an axis is an integer, not " + lang::describe(given.type));
    const Value axis =
        f_.call_prelude("numpy.axis_of", {{given, f_.integer(most), {string_type(""), {}, 0}}, {}, where_});
    return {f_.cast(axis, ScalarType::kInt64), std::nullopt};
}

Value FunctionLowering::Ufuncs::moved_first(const Value& array, ValueId axis) {
    const auto order = [&](const std::function<ValueId(size_t)>& of) {
        std::vector<ValueId> result;
        ValueId first = of(0);
        for (size_t d = 1; d < array.type->rank; ++d) {
            const ValueId here = f_.integer(static_cast<int64_t>(d)).parts[0];
            first = f_.apply(OpId::kSelect, {f_.apply(OpId::kEqual, {axis, here}), of(d), first});
        }
        result.push_back(first);
        for (size_t d = 1; d < array.type->rank; ++d) {
            const ValueId here = f_.integer(static_cast<int64_t>(d)).parts[0];
            result.push_back(
                f_.apply(OpId::kSelect, {f_.apply(OpId::kLessEqual, {here, axis}), of(d - 1), of(d)}));
        }
        return result;
    };
    return f_.view(array, f_.integer(0).parts[0], order([&](size_t d) { return f_.size_of(array, d); }),
                   order([&](size_t d) { return f_.stride_of(array, d); }), false);
}

Value FunctionLowering::Ufuncs::with_first(const Value& array, const Axis& axis) {
    if (!axis.second) return moved_first(array, axis.first);
    std::vector<int> order = {static_cast<int>(*axis.second)};
    for (size_t d = 0; d < array.type->rank; ++d) {
        if (d != *axis.second) order.push_back(static_cast<int>(d));
    }
    return f_.with_axes(array, order);
}

FunctionLowering::Ufuncs::Folded FunctionLowering::Ufuncs::folded(const Value& array,
                                                                  const std::optional<Value>& axis) {
    const size_t rank = array.type->rank;
    Folded found;
    found.array = array;
    if (rank > 0 && axis && axis->type->kind == TypeKind::kNone) {
        for (size_t d = 0; d < rank; ++d)
            found.axes.push_back(axis_of(f_.integer(static_cast<int64_t>(d)), rank));
    } else if (axis && axis->type->kind == TypeKind::kTuple) {
        for (size_t i = 0; i < axis->type->parts.size(); ++i)
            found.axes.push_back(axis_of(f_.tuple_item(*axis, i), rank));
    } else if (rank > 0) {
        found.axes.push_back(axis_of(axis ? *axis : f_.integer(0), rank));
    }
    if (found.axes.size() > 1 && !is_reorderable())
        f_.fail(
            where_,
            "reduction operation '" + name() + "' is not reorderable, so at most one axis may be specified",
            "vectorize(identity='reorderable') says that it is.");
    found.are_known =
        std::ranges::all_of(found.axes, [](const auto& each) { return each.second.has_value(); });
    for (size_t i = 0; i < found.axes.size(); ++i) {
        for (size_t k = 0; k < i; ++k) {
            if (found.are_known && found.axes[i].second == found.axes[k].second)
                f_.fail(where_, "duplicate value in 'axis'");
            if (!found.are_known)
                f_.check(f_.apply(OpId::kNotEqual, {found.axes[i].first, found.axes[k].first}),
                         f_.site("ValueError", "duplicate value in 'axis'"), {}, where_);
        }
    }
    // In order.
    if (found.are_known) {
        std::ranges::sort(found.axes, {}, [](const auto& each) { return *each.second; });
    } else {
        for (auto& each : found.axes) each.second.reset();
        for (size_t i = 0; i < found.axes.size(); ++i) {
            for (size_t k = 0; k + 1 < found.axes.size() - i; ++k) {
                const ValueId one = found.axes[k].first, other = found.axes[k + 1].first;
                found.axes[k].first = f_.apply(OpId::kMinimum, {one, other});
                found.axes[k + 1].first = f_.apply(OpId::kMaximum, {one, other});
            }
        }
    }
    return found;
}

void FunctionLowering::Ufuncs::find_views(Folded& found) {
    const Value& array = found.array;
    const size_t rank = array.type->rank, count = found.axes.size();
    found.rows = found.lanes = array;
    if (rank == 0 || count == 0) return;
    if (found.are_known) {
        std::vector<int> order, rest;
        for (const auto& axis : found.axes) order.push_back(static_cast<int>(*axis.second));
        for (size_t d = 0; d < rank; ++d) {
            if (std::ranges::find(order, static_cast<int>(d)) == order.end())
                rest.push_back(static_cast<int>(d));
        }
        std::vector<int> first = order, last = rest;
        first.insert(first.end(), rest.begin(), rest.end());
        last.insert(last.end(), order.begin(), order.end());
        found.rows = f_.with_axes(array, first);
        found.lanes = f_.with_axes(array, last);
        return;
    }
    // The last axis comes first, then the one before it, which is one further behind now, and so on.
    for (size_t k = count; k-- > 0;) {
        const ValueId moved = f_.integer(static_cast<int64_t>(count - 1 - k)).parts[0];
        found.rows = moved_first(found.rows, f_.apply(OpId::kAdd, {found.axes[k].first, moved}));
    }
    std::vector<int> last;
    for (size_t d = count; d < rank; ++d) last.push_back(static_cast<int>(d));
    for (size_t d = 0; d < count; ++d) last.push_back(static_cast<int>(d));
    found.lanes = f_.with_axes(found.rows, last);
}

// Whether elements that are folded lie closer than others.
Value FunctionLowering::Ufuncs::goes_by_lanes(const Folded& found) {
    const size_t count = found.axes.size(), rank = found.array.type->rank;
    if (count == 0 || count == rank) return f_.boolean(false);
    if (found.are_known && found.array.type->contiguous)
        return f_.boolean(found.axes.back().second == rank - 1);
    const auto distance = [&](size_t d) { return f_.apply(OpId::kAbsolute, {f_.stride_of(found.rows, d)}); };
    const ValueId own = distance(count - 1);
    ValueId closer = f_.boolean(true).parts[0];
    for (size_t d = count; d < rank; ++d)
        closer = f_.apply(OpId::kLogicalAnd, {closer, f_.apply(OpId::kLessEqual, {own, distance(d)})});
    return f_.scalar(scalar_type(ScalarType::kBool, true), closer);
}

// In `out`, if that is given.
Value FunctionLowering::Ufuncs::finished(const Value& result, const std::optional<Value>& out,
                                         const std::string& text) {
    if (is_none(out)) return is_array(result.type) && result.type->rank == 0 ? f_.load({result, {}}) : result;
    if (!is_array(out->type)) f_.fail(where_, "out is an array, not " + lang::describe(out->type));
    const size_t rank = is_array(result.type) ? result.type->rank : 0;
    if (out->type->rank != rank) f_.refuse_rank(*out, rank, where_);
    for (size_t d = 0; d < rank; ++d) {
        Site shapes = f_.site("ValueError", text);
        if (text.empty()) {
            shapes.kind = SiteKind::kBroadcast;
            shapes.axis = static_cast<int>(d);
        }
        f_.check(f_.apply(OpId::kEqual, {f_.size_of(*out, d), f_.size_of(result, d)}), std::move(shapes),
                 text.empty() ? std::vector<ValueId>{f_.size_of(result, d), f_.size_of(*out, d)}
                              : std::vector<ValueId>{},
                 where_);
    }
    f_.store_part(*out, result, where_);
    return *out;
}

Value FunctionLowering::Ufuncs::reduce(const Arguments& arguments) {
    static constexpr std::string_view kParameters[] = {"array",    "axis",    "dtype", "out",
                                                       "keepdims", "initial", "where"};
    const auto given = bind("reduce", arguments, kParameters, 1);
    const std::optional<Value>&axis = given[1], &dtype = given[2], &out = given[3], &initial = given[5];
    if (!is_none(given[6]) && literal_integer(given[6]->type) != 1)
        f_.fail(where_, "reduce() takes no 'where' in a compiled function", "Write a loop, or np.where().");
    bool keeps = false;
    if (!is_none(given[4])) {
        const std::optional<int64_t> known = literal_integer(given[4]->type);
        if (!known) f_.fail(where_, "keepdims has to be known when the function is compiled");
        keeps = *known != 0;
    }
    Folded found = folded(array(*given[0]), axis);
    const ScalarType elements = found.array.type->scalar;
    const Fold types = fold_types(elements, dtype, out, "reduce");
    const bool starts = !is_none(initial), gives_first = initial && !starts;
    std::optional<Value> start;
    if (starts) {
        if (!is_scalar(initial->type))
            f_.fail(where_, "initial is a number, not " + lang::describe(initial->type));
        start = cast_to(*initial, types.total);
    }
    found.array = of_type(found.array, types.next);
    find_views(found);
    Value result = reduced_by_known(found, types, start, gives_first);
    if (result.type == nullptr) {
        const size_t count = found.axes.size(), rank = found.array.type->rank;
        std::vector<ValueId> shape;
        for (size_t d = count; d < rank; ++d) shape.push_back(f_.size_of(found.rows, d));
        result = f_.allocate(types.total, shape, where_);
        std::vector<Value> rest = {callee_, found.rows, found.lanes, result, goes_by_lanes(found)};
        if (start) {
            f_.fill(result, *start, where_);
            f_.call_prelude("ufuncs.reduce", {rest, {}, where_});
        } else {
            Value number = f_.integer(1);
            for (size_t d = 0; d < count; ++d)
                number.parts[0] = f_.apply(OpId::kMultiply, {number.parts[0], f_.size_of(found.rows, d)});
            number.type = scalar_type(ScalarType::kInt64, true);
            if (has_identity() && !gives_first) {
                rest.push_back(number);
                rest.push_back(identity(types.total));
                f_.call_prelude("ufuncs.reduce_if_any", {rest, {}, where_});
            } else {
                f_.check(f_.apply(OpId::kGreater, {number.parts[0], f_.integer(0).parts[0]}),
                         f_.site("ValueError", "zero-size array to reduction operation " + name() +
                                                   " which has no identity"),
                         {}, where_);
                f_.call_prelude("ufuncs.reduce_from_first", {rest, {}, where_});
            }
        }
    }
    if (keeps) result = with_kept(result, found);
    return finished(result, out, "");
}

// By the loops that sum() and its kin have; nothing where they do not compute this.
Value FunctionLowering::Ufuncs::reduced_by_known(const Folded& found, const Fold& types,
                                                 const std::optional<Value>& start, bool gives_first) {
    if (!is_numpys() || gives_first || found.axes.empty() || is_complex(scalar_type(types.total))) return {};
    const auto* const known =
        std::ranges::find_if(kReductions, [&](const KnownReduction& each) { return each.op == op_->id; });
    if (known == std::end(kReductions) || (start && !known->takes_start)) return {};
    const bool is_wide = DType(types.total).is_inexact() || DType(types.total).itemsize() == 8;
    if (known->takes_start && !is_wide) return {};
    std::vector<Value> axes;
    for (size_t k = 0; k < found.axes.size(); ++k)
        axes.push_back(f_.integer(static_cast<int64_t>(found.are_known ? *found.axes[k].second : k)));
    const bool of_all = found.axes.size() == found.array.type->rank;
    const Value result =
        *f_.array_reduction(found.are_known ? found.array : found.rows, std::string(known->name),
                            {{of_all ? f_.none() : f_.tuple(axes)}, {}, where_});
    if (!start) return result;
    const std::array operands = {*start, result};
    const std::optional<Value> both = f_.array_operation(*op_, operands, where_);
    return both ? *both : f_.by_loop(*op_, operands, where_);
}

// The folded axes as axes of one element.
Value FunctionLowering::Ufuncs::with_kept(const Value& given, const Folded& found) {
    if (found.array.type->rank == 0) return given;
    Value result = given;
    if (is_scalar(result.type)) result = f_.array_of(result, std::nullopt, where_);
    if (!found.are_known) {
        for (const auto& axis : found.axes) result = f_.with_axis_at(result, axis.first);
        return result;
    }
    std::vector<int> kept;
    int next = 0;
    for (size_t d = 0; d < found.array.type->rank; ++d) {
        const bool is_gone =
            std::ranges::any_of(found.axes, [&](const auto& axis) { return axis.second == d; });
        kept.push_back(is_gone ? -1 : next++);
    }
    return f_.with_axes(result, kept);
}

Value FunctionLowering::Ufuncs::accumulate(const Arguments& arguments) {
    static constexpr std::string_view kParameters[] = {"array", "axis", "dtype", "out"};
    const auto given = bind("accumulate", arguments, kParameters, 1);
    Value values = array(*given[0]);
    if (values.type->rank == 0) f_.fail(where_, "cannot accumulate on a scalar");
    const auto axis = axis_of(is_none(given[1]) ? f_.integer(0) : *given[1], values.type->rank);
    const Fold types = fold_types(values.type->scalar, given[2], given[3], "accumulate");
    values = of_type(values, types.next);
    std::vector<ValueId> shape;
    for (size_t d = 0; d < values.type->rank; ++d) shape.push_back(f_.size_of(values, d));
    const Value result = f_.allocate(types.total, shape, where_);
    f_.call_prelude("ufuncs.accumulate",
                    {{callee_, with_first(values, axis), with_first(result, axis)}, {}, where_});
    return finished(result, given[3], "provided out is the wrong size for the accumulation.");
}

Value FunctionLowering::Ufuncs::reduceat(const Arguments& arguments) {
    static constexpr std::string_view kParameters[] = {"array", "indices", "axis", "dtype", "out"};
    const auto given = bind("reduceat", arguments, kParameters, 2);
    Value values = array(*given[0]);
    if (values.type->rank == 0) f_.fail(where_, "cannot reduceat on a scalar");
    const Value indices = array(*given[1]);
    if (!DType(indices.type->scalar).is_integer() || indices.type->rank != 1)
        f_.fail(where_, "the indices of reduceat() are an array of integers of one dimension, not " +
                            lang::describe(indices.type));
    const auto axis = axis_of(is_none(given[2]) ? f_.integer(0) : *given[2], values.type->rank);
    const Fold types = fold_types(values.type->scalar, given[3], given[4], "reduceat");
    values = of_type(values, types.next);
    std::vector<ValueId> shape;
    for (size_t d = 0; d < values.type->rank; ++d) {
        const ValueId is_axis =
            f_.apply(OpId::kEqual, {axis.first, f_.integer(static_cast<int64_t>(d)).parts[0]});
        shape.push_back(f_.apply(OpId::kSelect, {is_axis, f_.size_of(indices, 0), f_.size_of(values, d)}));
    }
    const Value result = f_.allocate(types.total, shape, where_);
    f_.call_prelude("ufuncs.reduceat", {{callee_, with_first(values, axis), indices, with_first(result, axis),
                                         Value{string_type(name()), {}, 0}},
                                        {},
                                        where_});
    return finished(result, given[4], "");
}

Value FunctionLowering::Ufuncs::outer(const Arguments& arguments) {
    static constexpr std::string_view kParameters[] = {"A", "B", "out"};
    const auto given = bind("outer", arguments, kParameters, 2);
    const auto shaped = [&](const Value& value) { return is_scalar(value.type) ? value : array(value); };
    Value a = shaped(*given[0]), b = shaped(*given[1]);
    const size_t first = is_array(a.type) ? a.type->rank : 0, second = is_array(b.type) ? b.type->rank : 0;
    if (first > 0 && second > 0) {
        std::vector<int> axes(first + second, -1);
        for (size_t d = 0; d < first; ++d) axes[d] = static_cast<int>(d);
        a = f_.with_axes(a, axes);
    }
    Arguments call_of{{a, b}, {}, where_};
    if (!is_none(given[2])) call_of.keywords.emplace_back("out", *given[2]);
    return is_numpys() ? f_.call_ufunc(*op_, call_of) : call(call_of);
}

Value FunctionLowering::Ufuncs::at(const Arguments& arguments) {
    static constexpr std::string_view kParameters[] = {"a", "indices", "b"};
    const auto given = bind("at", arguments, kParameters, 2);
    const Value& target = *given[0];
    if (!is_array(target.type)) f_.fail(where_, "first operand must be array");
    const size_t inputs = is_numpys() ? op_->nin : symbol_->ufunc->inputs;
    if (inputs > 2) f_.fail(where_, "Only unary and binary ufuncs supported at this time");
    if (inputs == 2 && is_none(given[2])) f_.fail(where_, "second operand needed for ufunc");
    if (inputs == 1 && !is_none(given[2])) f_.fail(where_, "second operand provided when ufunc is unary");
    const auto shaped = [&](const Value& value) -> Value {
        const bool is_row = is_list(value.type) || value.type->kind == TypeKind::kTuple;
        return is_row                 ? f_.array_of(value, std::nullopt, where_)
               : is_array(value.type) ? f_.forced(value)
                                      : value;
    };
    std::vector<IndexItem> items;
    if (given[1]->type->kind == TypeKind::kTuple) {
        for (size_t i = 0; i < given[1]->type->parts.size(); ++i)
            items.push_back({where_, shaped(f_.tuple_item(*given[1], i))});
    } else {
        items.push_back({where_, shaped(*given[1])});
    }
    std::optional<Value> operand;
    if (inputs == 2) {
        operand = shaped(*given[2]);
        if (!is_array(operand->type) && !is_scalar(operand->type))
            f_.fail(where_, lang::describe(operand->type) + " is no operand of " + name() + ".at()");
        if (is_scalar(operand->type)) operand = cast_to(*operand, operand->type->scalar);  // as an array's is
    }
    f_.update_selected(where_, target, items, operand,
                       [&](std::span<const Value> values) { return element(values); });
    return f_.none();
}

}  // namespace weft::lang
