#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

struct MathFunction {
    std::string_view name;
    std::string_view op;
};
// Functions of math and cmath whose names differ from NumPy's.
constexpr MathFunction kMathNames[] = {
    {"asin", "arcsin"},   {"acos", "arccos"},   {"atan", "arctan"},   {"atan2", "arctan2"},
    {"asinh", "arcsinh"}, {"acosh", "arccosh"}, {"atanh", "arctanh"}, {"pow", "power"},
    {"fabs", "fabs"},     {"remainder", ""},    {"phase", ""},
};
constexpr std::string_view kMathSame[] = {
    "sqrt",     "cbrt",     "exp",   "exp2",  "expm1",     "log2",  "log10",   "log1p",   "sin", "cos",
    "tan",      "sinh",     "cosh",  "tanh",  "hypot",     "fmod",  "degrees", "radians", "erf", "erfc",
    "copysign", "isfinite", "isinf", "isnan", "nextafter", "ldexp", "gcd",     "lcm",
};
constexpr std::string_view kComplexMath[] = {"sqrt", "exp",   "log",   "log10", "sin",  "cos",
                                             "tan",  "sinh",  "cosh",  "tanh",  "asin", "acos",
                                             "atan", "asinh", "acosh", "atanh"};

std::string_view op_of_math(std::string_view name) {
    for (const MathFunction& function : kMathNames) {
        if (function.name == name) return function.op;
    }
    return std::find(std::begin(kMathSame), std::end(kMathSame), name) == std::end(kMathSame)
               ? std::string_view()
               : name;
}

}  // namespace

void FunctionLowering::expect_arguments(const std::string& name, const Arguments& arguments, size_t least,
                                        size_t most) {
    if (!arguments.keywords.empty())
        fail(arguments.where,
             name + "() takes no keyword '" + arguments.keywords[0].first + "' in a compiled function");
    const size_t count = arguments.positional.size();
    if (count >= least && count <= most) return;
    fail(arguments.where, name + "() takes " + std::to_string(least) +
                              (most == least      ? ""
                               : most == SIZE_MAX ? " or more"
                                                  : " to " + std::to_string(most)) +
                              " argument" + (most == 1 ? "" : "s") + ", " + std::to_string(count) + " given");
}

Value FunctionLowering::lower_call(NodeId id, Environment& environment) {
    const Node& call = node(id);
    if (node(call.children[0]).kind == NodeKind::kAttribute) {
        const Value base = lower(node(call.children[0]).children[0], environment);
        return call_method(base, node(call.children[0]).atoms[0], arguments_of(id, environment));
    }
    const Value callee = lower(call.children[0], environment);
    if (callee.type->kind != TypeKind::kSymbol) fail(id, lang::describe(callee.type) + " cannot be called");
    const Symbol& symbol = *callee.type->symbol;
    const Arguments arguments = arguments_of(id, environment);
    for (const Value& value : arguments.positional) {
        if (value.type->kind == TypeKind::kNever) return never();
    }
    for (const auto& [name, value] : arguments.keywords) {
        if (value.type->kind == TypeKind::kNever) return never();
    }
    switch (symbol.kind) {
        case SymbolKind::kFunction: return call_function(symbol, arguments);
        case SymbolKind::kKnown: return call_known(symbol, arguments);
        default: fail(id, symbol.described() + " cannot be called in a compiled function");
    }
}

FunctionLowering::Arguments FunctionLowering::arguments_of(NodeId id, Environment& environment) {
    const Node& call = node(id);
    Arguments arguments;
    arguments.where = id;
    for (size_t i = 1; i < call.children.size(); ++i) {
        const NodeId child = call.children[i];
        const Node& argument = node(child);
        if (argument.kind == NodeKind::kKeyword) {
            arguments.keywords.emplace_back(argument.atoms[0], lower(argument.children[0], environment));
        } else if (argument.kind == NodeKind::kStarred) {
            const Value items = lower(argument.children[0], environment);
            if (items.type->kind != TypeKind::kTuple)
                fail(child, "only tuples can be given by *, not " + lang::describe(items.type));
            for (size_t k = 0; k < items.type->parts.size(); ++k)
                arguments.positional.push_back(tuple_item(items, k));
        } else {
            arguments.positional.push_back(lower(child, environment));
        }
    }
    return arguments;
}

Value FunctionLowering::call_function(const Symbol& symbol, const Arguments& arguments) {
    if (symbol.function == nullptr) fail(arguments.where, symbol.path);
    raise_deferred();
    const FunctionSource& callee = *symbol.function;
    const auto parameters = callee.tree.parameters();
    std::vector<std::optional<Value>> given(parameters.size());
    std::vector<Value> rest;  // of *args, which take what is left
    size_t positional = 0;
    while (positional < parameters.size() && (callee.tree[parameters[positional]].kind == NodeKind::kParam ||
                                              callee.tree[parameters[positional]].kind == NodeKind::kDefault))
        ++positional;
    const bool has_rest =
        positional < parameters.size() && callee.tree[parameters[positional]].kind == NodeKind::kRest;
    if (arguments.positional.size() > positional && !has_rest)
        fail(arguments.where, callee.name + "() takes " + std::to_string(positional) +
                                  " positional arguments but " + std::to_string(arguments.positional.size()) +
                                  " were given");
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        if (i < positional) {
            given[i] = arguments.positional[i];
        } else {
            rest.push_back(arguments.positional[i]);
        }
    }
    if (has_rest) given[positional] = tuple(std::move(rest));
    for (const auto& [name, value] : arguments.keywords) {
        size_t at = 0;
        while (at < parameters.size() && callee.tree[parameters[at]].atoms[0] != name) ++at;
        if (at == parameters.size())
            fail(arguments.where, callee.name + "() got an unexpected keyword argument '" + name + "'");
        if (given[at])
            fail(arguments.where, callee.name + "() got multiple values for argument '" + name + "'");
        given[at] = value;
    }
    size_t defaults = 0;
    std::vector<TypeRef> types;
    std::vector<ValueId> parts;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Node& parameter = callee.tree[parameters[i]];
        const bool has_default =
            parameter.kind == NodeKind::kDefault || parameter.kind == NodeKind::kKeywordDefault;
        const TypeRef type_of_default =
            has_default && defaults < callee.defaults.size() ? callee.defaults[defaults] : nullptr;
        defaults += has_default ? 1 : 0;
        if (!given[i]) {
            if (type_of_default == nullptr)
                fail(arguments.where,
                     callee.name + "() missing required argument: '" + parameter.atoms[0] + "'");
            const TypeRef type = type_of_default;
            given[i] = type->literal ? constant(*type->literal) : Value{type, {}, 0};
        }
        if (given[i]->type->kind == TypeKind::kRange)
            fail(arguments.where, "a range cannot be given to a function");
        const TypeRef type = without_literals(given[i]->type);
        const Value value = at_border(convert(*given[i], type, arguments.where));
        types.push_back(type);
        parts.insert(parts.end(), value.parts.begin(), value.parts.end());
    }
    if (dry_) {
        TypeRef type = compilation_.result_of(callee, types);
        if (type->kind == TypeKind::kNever) asks_itself_ = true;
        asks_itself_ |= &callee == &source_;
        return {type, std::vector<ValueId>(part_count(type)), 0, has_owner(type)};
    }
    const Specialised& target = compilation_.specialise(callee, types);

    target_.written.insert(target.written.begin(), target.written.end());
    std::vector<ir::Type> results;
    append_ir_types(results, target.result, true);
    Value result = inside({target.result, builder_->call(target.name, results, parts), 0});
    result.fresh = has_owner(target.result);
    add_temporary(result);
    return result;
}

Value FunctionLowering::call_ufunc(const OpInfo& op, const Arguments& arguments) {
    expect_arguments(std::string(op.numpy_name), arguments, op.nin, op.nin);
    std::vector<Value> operands = arguments.positional;
    Value result = by_loop(op, operands, arguments.where);
    // NumPy's functions give NumPy's scalars.
    if (is_scalar(result.type)) result.type = scalar_type(result.type->scalar);
    return result;
}

Value FunctionLowering::call_math(const std::string& name, const Arguments& arguments) {
    if (name == "floor" || name == "ceil" || name == "trunc") {
        expect_arguments(name, arguments, 1, 1);
        const OpInfo* op = find_op(name);
        return to_integer(arguments.positional[0], op->id, arguments.where);
    }
    if (name == "log" && arguments.positional.size() == 2) {
        Arguments one = arguments;
        one.positional.pop_back();
        const Value top = call_math("log", one);
        one.positional = {arguments.positional[1]};
        return divide("truediv", top, call_math("log", one), arguments.where);
    }
    const std::string_view known = name == "log" ? "log" : op_of_math(name);
    const OpInfo* op = known.empty() ? nullptr : find_op(known);
    if (op == nullptr) {
        std::vector<std::string> names(std::begin(kMathSame), std::end(kMathSame));
        fail(arguments.where, "math." + name + " is not compiled yet");
    }
    expect_arguments("math." + name, arguments, op->nin, op->nin);
    const bool integers = name == "gcd" || name == "lcm";
    std::vector<Value> operands;
    for (const Value& argument : arguments.positional) {
        if (!is_scalar(argument.type) || is_complex(argument.type))
            fail(arguments.where,
                 "math." + name + " takes real numbers, not " + lang::describe(argument.type));
        const ScalarType type = integers ? ScalarType::kInt64 : ScalarType::kFloat64;
        const bool exponent = name == "ldexp" && !operands.empty();
        operands.push_back(exponent ? argument : scalar(scalar_type(type, true), cast(argument, type)));
    }
    Value result = by_loop(*op, operands, arguments.where);
    if (is_scalar(result.type)) result.type = scalar_type(result.type->scalar, true);
    return result;
}

// A float to an integer; what is no integer of 64 bits is an error, as Python's integers end there here.
Value FunctionLowering::to_integer(const Value& value, OpId rounding, NodeId where) {
    if (is_integer(value.type))
        return scalar(scalar_type(ScalarType::kInt64, true), cast(value, ScalarType::kInt64));
    if (!is_float(value.type)) fail(where, "an integer cannot be made of " + lang::describe(value.type));
    const TypeRef type = scalar_type(ScalarType::kInt64, true);
    if (dry_) return scalar(type, {});
    ValueId real = cast(value, ScalarType::kFloat64);
    if (rounding != OpId::kTrunc) real = builder_->apply(rounding, {real});  // the cast truncates
    const ValueId result = builder_->cast(real, ScalarType::kInt64);
    // What has no integer of 64 bits, NaN among it, is cast to the least of them.
    const ValueId least = builder_->index(INT64_MIN);
    const ValueId exact = builder_->constant(Constant::of(ScalarType::kFloat64, -9223372036854775808.0));
    const ValueId fits = builder_->apply(OpId::kNotEqual, {result, least});
    const ValueId is_least = builder_->apply(OpId::kEqual, {real, exact});
    Site outside = site({}, {});
    outside.kind = SiteKind::kToInteger;
    check(builder_->apply(OpId::kLogicalOr, {fits, is_least}), std::move(outside), {real}, where);
    return scalar(type, result);
}

Value FunctionLowering::call_convert(ScalarType to, bool weak, const Arguments& arguments) {
    expect_arguments(std::string(DType(to).name()), arguments, 0, 2);
    if (arguments.positional.empty()) return constant({to, {}});
    const Value& value = arguments.positional[0];
    if (!is_scalar(value.type))
        fail(arguments.where, "a number cannot be made of " + lang::describe(value.type));
    const DType dtype(to);
    if (arguments.positional.size() == 2) {
        if (!dtype.is_complex()) fail(arguments.where, "only complex() takes two numbers");
        const Value i = [&] {
            struct Pair {
                double real, imaginary;
            };
            return constant(Constant::of(ScalarType::kComplex128, Pair{0, 1}));
        }();
        const Value imaginary = binary("mul", arguments.positional[1], i, arguments.where);
        return call_convert(to, weak,
                            {{binary("add", value, imaginary, arguments.where)}, {}, arguments.where});
    }
    if (is_complex(value.type) && !dtype.is_complex() && to != ScalarType::kBool)
        fail(arguments.where, "a real number cannot be made of " + lang::describe(value.type),
             "Take its .real.");
    if (weak && to == ScalarType::kInt64) return to_integer(value, OpId::kTrunc, arguments.where);
    if (weak && value.type->literal && to == ScalarType::kFloat64 && literal_integer(value.type))
        return constant(Constant::of(to, static_cast<double>(*literal_integer(value.type))));
    return scalar(scalar_type(to, weak), cast(value, to));
}

Value FunctionLowering::call_round(const Arguments& arguments) {
    expect_arguments("round", arguments, 1, 2);
    if (arguments.positional.size() == 2 && arguments.positional[1].type->kind != TypeKind::kNone) {
        if (is_integer(arguments.positional[0].type) &&
            literal_integer(arguments.positional[1].type).value_or(-1) >= 0)
            return arguments.positional[0];
        fail(arguments.where, "round() to digits is not compiled yet");
    }
    return to_integer(arguments.positional[0], OpId::kRint, arguments.where);
}

Value FunctionLowering::call_length(const Arguments& arguments) {
    expect_arguments("len", arguments, 1, 1);
    const Value& value = arguments.positional[0];
    if (value.type->kind == TypeKind::kTuple) return integer(static_cast<int64_t>(value.type->parts.size()));
    if (value.type->kind == TypeKind::kString) return integer(static_cast<int64_t>(value.type->text.size()));
    if (value.type->kind == TypeKind::kRange)
        return scalar(scalar_type(ScalarType::kInt64, true), range_sequence(value, arguments.where).count());
    if (!is_array(value.type) || value.type->rank == 0)
        fail(arguments.where, lang::describe(value.type) + " has no len()");
    return scalar(scalar_type(ScalarType::kInt64, true), size_of(value, 0));
}

Value FunctionLowering::call_range(const Arguments& arguments) {
    expect_arguments("range", arguments, 1, 3);
    std::vector<Value> bounds;
    for (const Value& value : arguments.positional) {
        if (!is_integer(value.type))
            fail(arguments.where, "range() takes integers, not " + lang::describe(value.type));
        TypeRef type = value.type->literal ? value.type : scalar_type(ScalarType::kInt64, true);
        bounds.push_back({type, {as_index(value, arguments.where)}, 0});
    }
    if (bounds.size() == 1) bounds.insert(bounds.begin(), integer(0));
    if (bounds.size() == 2) bounds.push_back(integer(1));
    Value range = tuple(std::move(bounds));
    Type type = *range.type;
    type.kind = TypeKind::kRange;
    range.type = intern(std::move(type));
    return range;
}

// Python's min and max: the first of those that are equal.
Value FunctionLowering::call_extreme(bool largest, const Arguments& arguments) {
    const std::string name = largest ? "max" : "min";
    std::vector<Value> items = arguments.positional;
    if (items.size() == 1 && items[0].type->kind == TypeKind::kTuple) {
        const Value whole = items[0];
        items.clear();
        for (size_t i = 0; i < whole.type->parts.size(); ++i) items.push_back(tuple_item(whole, i));
    }
    if (!arguments.keywords.empty()) expect_arguments(name, arguments, 1, SIZE_MAX);
    if (items.empty() || (items.size() == 1 && !is_scalar(items[0].type)))
        fail(arguments.where, name + "() takes several numbers or a tuple here");
    Value best = items[0];
    for (size_t i = 1; i < items.size(); ++i) {
        const Value better = compare(largest ? "gt" : "lt", items[i], best, arguments.where);
        TypeRef type = join(without_literals(best.type), without_literals(items[i].type));
        if (type == nullptr)
            fail(arguments.where, name + "() of " + lang::describe(best.type) + " and " +
                                      lang::describe(items[i].type) + " has no type");
        best = scalar(type, apply(OpId::kSelect, {dry_ ? ValueId{} : better.parts[0],
                                                  cast(items[i], type->scalar), cast(best, type->scalar)}));
    }
    return best;
}

// As Python answers for its own numbers, and NumPy for its scalars.
bool FunctionLowering::is_instance(TypeRef type, TypeRef of, NodeId where) {
    if (of->kind == TypeKind::kTuple)
        return std::any_of(of->parts.begin(), of->parts.end(),
                           [&](TypeRef each) { return is_instance(type, each, where); });
    if (of->kind != TypeKind::kSymbol || of->symbol->kind != SymbolKind::kKnown)
        fail(where, "isinstance() asks for known types here, not " + lang::describe(of));
    const std::string& path = of->symbol->path;
    if (path == "builtins.tuple") return type->kind == TypeKind::kTuple;
    if (path == "builtins.str") return type->kind == TypeKind::kString;
    if (path == "numpy.ndarray") return is_array(type);
    if (!is_scalar(type)) return false;
    if (path == "builtins.bool") return type->weak && is_bool(type);
    if (path == "builtins.int") return type->weak && is_integer(type);
    if (path == "builtins.float") return type->scalar == ScalarType::kFloat64;
    if (path == "builtins.complex") return type->scalar == ScalarType::kComplex128;
    const DTypeInfo* dtype = path.starts_with("numpy.") ? DType::find(path.substr(6)) : nullptr;
    if (dtype != nullptr) return !type->weak && type->scalar == dtype->scalar_type;
    if (path == "numpy.integer") return !type->weak && DType(type->scalar).is_integer();
    if (path == "numpy.floating") return !type->weak && DType(type->scalar).is_floating();
    fail(where, "isinstance() does not know " + path + " here");
}

Value FunctionLowering::call_known(const Symbol& symbol, const Arguments& given) {
    Arguments arguments = given;
    for (Value& value : arguments.positional) value = required(value, given.where);
    const std::string& path = symbol.path;
    const size_t dot = path.rfind('.');
    const std::string module = path.substr(0, dot), name = path.substr(dot + 1);
    if (module == "math") return call_math(name, arguments);
    if (path == "weft.prange") return call_range(arguments);
    if (module == "builtins") {
        if (name == "range") return call_range(arguments);
        if (name == "len") return call_length(arguments);
        if (name == "int") return call_convert(ScalarType::kInt64, true, arguments);
        if (name == "float") return call_convert(ScalarType::kFloat64, true, arguments);
        if (name == "bool") return call_convert(ScalarType::kBool, true, arguments);
        if (name == "complex") return call_convert(ScalarType::kComplex128, true, arguments);
        if (name == "min" || name == "max") return call_extreme(name == "max", arguments);
        if (name == "round") return call_round(arguments);
        if (name == "abs") {
            expect_arguments(name, arguments, 1, 1);
            const Value& value = arguments.positional[0];
            if (is_integer(value.type)) {
                TypeRef type = integer_type(value.type, value.type);
                return scalar(type, apply(OpId::kAbsolute, {cast(value, type->scalar)}));
            }
            return by_loop(op_info(OpId::kAbsolute), std::span(&value, 1), arguments.where);
        }
        if (name == "pow") {
            expect_arguments(name, arguments, 2, 2);
            return power(arguments.positional[0], arguments.positional[1], arguments.where);
        }
        if (name == "isinstance") {
            expect_arguments(name, arguments, 2, 2);
            return boolean(
                is_instance(arguments.positional[0].type, arguments.positional[1].type, arguments.where));
        }
        if (name == "divmod") {
            expect_arguments(name, arguments, 2, 2);
            return tuple(
                {divide("floordiv", arguments.positional[0], arguments.positional[1], arguments.where),
                 divide("mod", arguments.positional[0], arguments.positional[1], arguments.where)});
        }
        if (name == "tuple" && arguments.positional.size() == 1 &&
            arguments.positional[0].type->kind == TypeKind::kTuple)
            return arguments.positional[0];
        if (name == "sum" && arguments.positional.size() == 1 && arguments.keywords.empty() &&
            arguments.positional[0].type->kind == TypeKind::kTuple) {
            Value total = integer(0);
            for (size_t i = 0; i < arguments.positional[0].type->parts.size(); ++i)
                total = binary("add", total, tuple_item(arguments.positional[0], i), arguments.where);
            return total;
        }
    }
    if (module == "numpy") {
        static constexpr std::string_view kMade[] = {"empty",      "zeros",      "ones",      "full",
                                                     "empty_like", "zeros_like", "ones_like", "full_like"};
        if (std::find(std::begin(kMade), std::end(kMade), name) != std::end(kMade))
            return call_allocate(name, arguments);
        if (name == "copy" && arguments.positional.size() == 1 && is_array(arguments.positional[0].type))
            return call_method(arguments.positional[0], name, {{}, arguments.keywords, arguments.where});
        if (const DTypeInfo* dtype = DType::find(name); dtype != nullptr && name != "abs")
            return call_convert(dtype->scalar_type, false, arguments);
        const OpInfo* op = find_op(name);
        if (op != nullptr && op->flags.is_ufunc) return call_ufunc(*op, arguments);
    }
    if (module == "cmath" &&
        std::find(std::begin(kComplexMath), std::end(kComplexMath), name) != std::end(kComplexMath)) {
        expect_arguments(path, arguments, 1, 1);
        const std::string_view known = op_of_math(name);
        const OpInfo* op = find_op(known.empty() ? std::string_view(name) : known);
        const std::array operands = {scalar(scalar_type(ScalarType::kComplex128, true),
                                            cast(arguments.positional[0], ScalarType::kComplex128))};
        return by_loop(*op, operands, arguments.where);
    }
    fail(arguments.where, path + " is not compiled yet");
}

}  // namespace weft::lang
