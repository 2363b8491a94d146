#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"
#include "lang/arrays/random.h"
#include "lang/arrays/ufuncs.h"
#include "lang/containers/dicts.h"
#include "lang/containers/sets.h"
#include "lang/dates/dates.h"
#include "lang/errors/argument_errors.h"
#include "lang/kernels/kernels.h"
#include "lang/lowering.h"
#include "lang/prelude.h"
#include "lang/strings/strings.h"
#include "lang/structures/texts.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr const char* kCallOutside = "Call it outside and give its result as an argument, or write a loop.";

// Functions that ask of each element whether it is something.
constexpr std::string_view kOfTruth[] = {"argwhere", "count_nonzero", "flatnonzero", "nonzero", "where"};

struct MathFunction {
    std::string_view name;
    std::string_view op;
};
// Functions of math and cmath whose names differ from NumPy's.
constexpr MathFunction kMathNames[] = {
    {"asin", "arcsin"},   {"acos", "arccos"},   {"atan", "arctan"},
    {"atan2", "arctan2"}, {"asinh", "arcsinh"}, {"acosh", "arccosh"},
    {"atanh", "arctanh"}, {"pow", "power"},     {"fabs", "fabs"},
};
constexpr std::string_view kMathSame[] = {
    "sqrt",     "cbrt",     "exp",   "exp2",  "expm1",     "log2",  "log10",   "log1p",   "sin", "cos",
    "tan",      "sinh",     "cosh",  "tanh",  "hypot",     "fmod",  "degrees", "radians", "erf", "erfc",
    "copysign", "isfinite", "isinf", "isnan", "nextafter", "ldexp", "frexp",   "modf",    "fma",
};
// Functions that the prelude has, and those that take integers alone.
constexpr std::string_view kPreludeMath[] = {"gamma", "lgamma", "isqrt",     "comb",    "perm", "factorial",
                                             "dist",  "prod",   "remainder", "isclose", "ulp"};
constexpr std::string_view kWholeMath[] = {"isqrt", "comb", "perm", "factorial", "gcd", "lcm"};
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
             name + "() takes no keyword '" + arguments.keywords[0].first + "' in a compiled function",
             "Give it by its place, or leave it out.");
    const size_t count = arguments.positional.size();
    if (count < least || count > most) fail(arguments.where, wrong_count(name, least, most, count));
}

Value FunctionLowering::lower_call(NodeId id, Environment& environment) {
    const Node& call = node(id);
    Value callee;
    if (node(call.children[0]).kind == NodeKind::kAttribute) {
        const Value base = lower(node(call.children[0]).children[0], environment);
        const std::string& name = node(call.children[0]).atoms[0];
        if (base.type->kind != TypeKind::kSymbol && !field_of(base, name))
            return call_method(base, name, arguments_of(id, environment, is_list(base.type)));
        if (Ufuncs::is_ufunc(base) && Ufuncs::has_method(name))
            return Ufuncs(*this, base, id).call_method(name, arguments_of(id, environment));
        callee = attribute_of(base, name, call.children[0]);  // a.dtype.type(1)
    } else {
        callee = lower(call.children[0], environment);
    }
    if (callee.type->kind == TypeKind::kNever) return never();
    static constexpr std::string_view kCollecting[] = {
        "builtins.sum",  "builtins.min",  "builtins.max",    "builtins.any", "builtins.all",
        "builtins.list", "builtins.dict", "builtins.sorted", "numpy.array",  "_functools.reduce"};
    const bool collects = callee.type->kind == TypeKind::kSymbol &&
                          std::find(std::begin(kCollecting), std::end(kCollecting),
                                    callee.type->symbol->path) != std::end(kCollecting);
    if (callee.type->kind == TypeKind::kSymbol && callee.type->symbol->path == "builtins.iter" &&
        callee.type->symbol->kind == SymbolKind::kKnown && call.children.size() == 2 &&
        is_lazy(call.children[1]))
        return call_value(callee, {{iterable(call.children[1], environment)}, {}, id}, environment);
    const bool is_elementwise =
        callee.type->kind == TypeKind::kSymbol && callee.type->symbol->kind == SymbolKind::kKnown &&
        (find_ufunc(*callee.type->symbol) != nullptr || callee.type->symbol->path == "numpy.where");
    if (is_elementwise && std::none_of(call.children.begin() + 1, call.children.end(), [&](NodeId child) {
            return node(child).kind == NodeKind::kKeyword || node(child).kind == NodeKind::kStarred;
        })) {
        const std::vector<Value> operands = lower_operands(std::span(call.children).subspan(1), environment);
        return call_value(callee, {operands, {}, id, /*defers=*/true}, environment);
    }
    return call_value(callee, arguments_of(id, environment, collects), environment);
}

Value FunctionLowering::call_value(const Value& callee, const Arguments& arguments,
                                   const Environment& environment) {
    const NodeId id = arguments.where;
    if (callee.type->kind == TypeKind::kClosure) return call_closure(callee, arguments, environment);
    if (callee.type->kind != TypeKind::kSymbol)
        fail(id, lang::describe(callee.type) + " cannot be called", "Call a function, or index it by [...].");
    const Symbol& symbol = *callee.type->symbol;
    for (const Value& value : arguments.positional) {
        if (value.type->kind == TypeKind::kNever) return never();
    }
    for (const auto& [name, value] : arguments.keywords) {
        if (value.type->kind == TypeKind::kNever) return never();
    }
    switch (symbol.kind) {
        case SymbolKind::kFunction: return call_function(symbol, arguments);
        case SymbolKind::kKnown: return call_known(symbol, arguments);
        case SymbolKind::kRecord: return make_record(*symbol.record, arguments);
        case SymbolKind::kExternal:
            return Kernels(*this, symbol.name, id).call_external(*symbol.external, arguments);
        default: fail(id, symbol.described() + " cannot be called in a compiled function");
    }
}

FunctionLowering::Arguments FunctionLowering::arguments_of(NodeId id, Environment& environment,
                                                           bool collects) {
    const Node& call = node(id);
    Arguments arguments;
    arguments.where = id;
    for (size_t i = 1; i < call.children.size(); ++i) {
        const NodeId child = call.children[i];
        const Node& argument = node(child);
        if (argument.kind == NodeKind::kKeyword) {
            arguments.keywords.emplace_back(
                argument.atoms[0], bound(lower(argument.children[0], environment), environment, child));
        } else if (argument.kind == NodeKind::kStarred) {
            const Value items = lower(argument.children[0], environment);
            if (items.type->kind != TypeKind::kTuple)
                fail(child, "only tuples can be given by *, not " + lang::describe(items.type));
            for (size_t k = 0; k < items.type->parts.size(); ++k)
                arguments.positional.push_back(bound(tuple_item(items, k), environment, child));
        } else if (collects && is_lazy(child)) {
            arguments.positional.push_back(collect(child, environment));
        } else {
            arguments.positional.push_back(bound(lower(child, environment), environment, child));
        }
    }
    return arguments;
}

Value FunctionLowering::call_function(const Symbol& symbol, const Arguments& arguments) {
    const NodeId where = arguments.where;
    if (symbol.function == nullptr) fail(where, symbol.path);
    if (symbol.ufunc != nullptr) return Ufuncs(*this, {symbol_type(&symbol), {}, 0}, where).call(arguments);
    return call_source(*symbol.function, {}, arguments);
}

// The dtype of a stencil's result (python/weft/_ufunc/stencil_calls.py): what its function gives for an
// element.
Value FunctionLowering::dtype_of_border(const Arguments& arguments) {
    const NodeId where = arguments.where;
    const FunctionSource& element = *arguments.positional.at(1).type->symbol->function;
    std::vector<TypeRef> types;
    for (size_t i = 2; i < arguments.positional.size(); ++i)
        types.push_back(without_literals(arguments.positional[i].type));
    const TypeRef result = compilation_.result_of(element, types, spot(where));
    if (result->kind == TypeKind::kNever) return never();
    if (!is_scalar(result))
        fail(where, "a stencil's function returns a number, not " + lang::describe(result));
    const Value& border = arguments.positional[0];
    if (!is_scalar(border.type) || (is_complex(border.type) && !is_complex(result)))
        fail(where, "cval type does not match stencil return type. It is " + lang::describe(border.type) +
                        ", and the function gives " + lang::describe(result));
    return {symbol_type(symbol_of_dtype(result->scalar)), {}, 0};
}

Value FunctionLowering::call_source(const FunctionSource& callee, std::vector<Value> before,
                                    const Arguments& arguments) {
    raise_deferred();
    const auto parameters = callee.tree.parameters();
    const size_t first = before.size();
    std::vector<std::optional<Value>> given(parameters.size());
    std::vector<Value> rest;  // of *args, which take what is left
    std::copy(before.begin(), before.end(), given.begin());
    size_t positional = first;
    while (positional < parameters.size() && (callee.tree[parameters[positional]].kind == NodeKind::kParam ||
                                              callee.tree[parameters[positional]].kind == NodeKind::kDefault))
        ++positional;
    const bool has_rest =
        positional < parameters.size() && callee.tree[parameters[positional]].kind == NodeKind::kRest;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        if (first + i < positional) {
            given[first + i] = arguments.positional[i];
        } else {
            rest.push_back(arguments.positional[i]);
        }
    }
    size_t keyword_only = 0;
    if (has_rest) given[positional] = tuple(std::move(rest));
    for (const auto& [name, value] : arguments.keywords) {
        size_t at = first;
        while (at < parameters.size() &&
               ((has_rest && at == positional) || callee.tree[parameters[at]].atoms[0] != name))
            ++at;
        if (at == parameters.size())
            refuse_arguments(arguments.where, callee, unexpected_keyword(callee.name, name));
        if (given[at]) refuse_arguments(arguments.where, callee, multiple_values(callee.name, name));
        given[at] = value;
        keyword_only += at >= positional ? 1 : 0;
    }
    if (arguments.positional.size() + first > positional && !has_rest) {
        const auto required =
            std::count_if(parameters.begin() + static_cast<std::ptrdiff_t>(first),
                          parameters.begin() + static_cast<std::ptrdiff_t>(positional),
                          [&](NodeId parameter) { return callee.tree[parameter].kind == NodeKind::kParam; });
        refuse_arguments(arguments.where, callee,
                         too_many_arguments(callee.name, static_cast<size_t>(required), positional - first,
                                            arguments.positional.size(), keyword_only));
    }
    size_t defaults = 0;
    MissingArguments missing;
    std::vector<TypeRef> types;
    std::vector<ValueId> parts;
    std::vector<Value> values;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Node& parameter = callee.tree[parameters[i]];
        const bool has_default =
            parameter.kind == NodeKind::kDefault || parameter.kind == NodeKind::kKeywordDefault;
        const TypeRef type_of_default =
            has_default && defaults < callee.defaults.size() ? callee.defaults[defaults] : nullptr;
        const size_t own = callee.captured.size() + defaults;  // of an inner function
        defaults += has_default ? 1 : 0;
        if (!given[i] && has_default && own < first) given[i] = before[own];
        if (!given[i] && type_of_default == nullptr) missing.add(parameter.atoms[0], i >= positional);
        if (!missing.empty()) continue;
        if (!given[i]) given[i] = constant_of(type_of_default);
        const bool stays_known = is_constant(given[i]->type) && Kernels::makes_arrays(callee);
        const TypeRef type = stays_known ? given[i]->type : without_literals(given[i]->type);
        if (callee.resume != nullptr) {
            values.push_back(convert(*given[i], type, arguments.where));
            continue;
        }
        types.push_back(type);
        values.push_back(convert(*given[i], type, arguments.where));
    }
    if (!missing.empty()) refuse_arguments(arguments.where, callee, missing.message(callee.name));
    if (callee.resume != nullptr) return make_generator(callee, values, arguments.where);
    if (can_inline(callee)) {
        const TypeRef type = compilation_.result_of(callee, types, spot(arguments.where));
        Value result = inline_call(callee, types, std::move(values), type, arguments.where);
        result.fresh = has_owner(type);
        add_temporary(result);
        return result;
    }
    for (const Value& value : values) {
        if (is_constant(value.type)) continue;
        const std::vector<ValueId> at = at_border(value).parts;
        parts.insert(parts.end(), at.begin(), at.end());
    }
    for (const Value& global : globals_) {
        const std::vector<ValueId> given_parts = at_border(global).parts;
        parts.insert(parts.end(), given_parts.begin(), given_parts.end());
    }
    if (dry_) {
        TypeRef type = compilation_.result_of(callee, types, spot(arguments.where));
        if (type->kind == TypeKind::kNever) asks_itself_ = undecided_ = true;
        asks_itself_ |= &callee == &source_ || compilation_.is_provisional();
        return {type, std::vector<ValueId>(part_count(type)), 0, has_owner(type)};
    }
    const Specialised& target = compilation_.specialise(callee, types, spot(arguments.where));
    target_.written.insert(target.written.begin(), target.written.end());
    target_.written_lists.insert(target.written_lists.begin(), target.written_lists.end());
    std::vector<ir::Type> results;
    append_ir_types(results, target.result, true);
    catches_ += target.catches ? 1 : 0;
    target_.catches |= target.catches;
    target_.meets |= target.meets;
    // In a loop a call would cost more than what it does to a few elements.
    const bool lazy =
        callee.is_prelude && !source_.is_prelude && open_loops_ == 0 && compilation_.is_shared(target, types);
    Value result = inside({target.result, call_and_catch(target.name, results, parts, lazy), 0});
    result.fresh = has_owner(target.result);
    add_temporary(result);
    return result;
}

Value FunctionLowering::call_ufunc(const OpInfo& op, const Arguments& arguments) {
    std::vector<Value> operands = arguments.positional;
    std::optional<Value> target;
    const size_t count = operands.size() + arguments.keywords.size();
    const bool has_keyword = arguments.keywords.size() == 1 && arguments.keywords[0].first == "out";
    const bool has_array =
        std::ranges::any_of(operands, [](const Value& operand) { return is_array(operand.type); });
    if (op.nout > 1 && (has_array || has_keyword) && operands.size() >= op.nin &&
        (has_keyword || arguments.keywords.empty())) {
        std::vector<Value> outs(operands.begin() + op.nin, operands.end());
        operands.resize(op.nin);
        if (has_keyword && arguments.keywords[0].second.type->kind == TypeKind::kTuple) {
            const Value& given = arguments.keywords[0].second;
            for (size_t k = 0; k < given.type->parts.size(); ++k) outs.push_back(tuple_item(given, k));
        }
        return Ufuncs(*this, op, arguments.where).call_several(operands, outs);
    }
    if (op.nout == 1 && count == op.nin + 1 && (has_keyword || arguments.keywords.empty())) {
        target = has_keyword ? arguments.keywords[0].second : operands.back();
        if (!has_keyword) operands.pop_back();
        if (!is_array(target->type))
            fail(arguments.where, "out is an array, not " + lang::describe(target->type));
    } else {
        expect_arguments(std::string(op.numpy_name), arguments, op.nin, op.nin);
    }
    if (op.nout == 1) {
        if (target) return store_operation(op, operands, *target, arguments.where);
        const Deferring result_later(*this, arguments.defers);
        if (const std::optional<Value> result = array_operation(op, operands, arguments.where))
            return *result;
    }
    Value result = by_loop(op, operands, arguments.where);
    // NumPy's functions give NumPy's scalars.
    if (is_scalar(result.type)) result.type = scalar_type(result.type->scalar);
    return result;
}

Value FunctionLowering::call_prelude(const std::string& path, const Arguments& arguments) {
    const Symbol* const function = find_in_prelude(path);
    WEFT_CHECK(function != nullptr, "a function that the prelude does not have: " + path);
    return call_function(*function, arguments);
}

Value FunctionLowering::call_math(const std::string& name, const Arguments& arguments) {
    const NodeId where = arguments.where;
    const auto is_one_of = [&](std::span<const std::string_view> names) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (name == "floor" || name == "ceil" || name == "trunc") {
        expect_arguments("math." + name, arguments, 1, 1);
        const OpInfo* op = find_op(name);
        return to_integer(arguments.positional[0], op->id, where);
    }
    if (name == "log" && arguments.positional.size() == 2) {
        Arguments one = arguments;
        one.positional.pop_back();
        const Value top = call_math("log", one);
        one.positional = {arguments.positional[1]};
        return divide("truediv", top, call_math("log", one), where);
    }
    if (is_one_of(kWholeMath)) {
        for (const Value& argument : arguments.positional) {
            if (!is_integer(argument.type) && argument.type->kind != TypeKind::kNone)
                fail(where, "math." + name + " takes integers, not " + lang::describe(argument.type));
        }
    }
    if (name == "gcd" || name == "lcm") {
        Value result = integer(name == "gcd" ? 0 : 1);
        expect_arguments("math." + name, arguments, 0, SIZE_MAX);
        for (const Value& argument : arguments.positional)
            result = scalar(scalar_type(ScalarType::kInt64, true),
                            apply(find_op(name)->id,
                                  {cast(result, ScalarType::kInt64), cast(argument, ScalarType::kInt64)}));
        return result;
    }
    if (name == "hypot" && arguments.positional.size() != 2) return call_prelude("math.hypot", arguments);
    const std::string path = "math." + name;
    if (is_one_of(kPreludeMath)) {
        if (name == "prod" && !arguments.positional.empty() &&
            arguments.positional[0].type->kind == TypeKind::kTuple)
            return fold_tuple("mul", integer(1), arguments);
        const bool of_numbers = name != "dist" && name != "prod";
        for (const Value& argument : arguments.positional) {
            const bool is_real = is_scalar(argument.type) && !is_complex(argument.type);
            if (of_numbers && !is_real && argument.type->kind != TypeKind::kNone)
                fail(where, path + " takes real numbers, not " + lang::describe(argument.type));
        }
        return call_prelude(path, arguments);
    }
    const std::string_view known = name == "log" ? "log" : op_of_math(name);
    const OpInfo* op = known.empty() ? nullptr : find_op(known);
    if (op == nullptr) fail(where, path + " is not compiled yet", kCallOutside);
    expect_arguments(path, arguments, op->nin, op->nin);
    // To Numba a function of float32 is float32.
    const bool is_narrow =
        compilation_.options().widens_floats && !source_.is_prelude && name != "frexp" && name != "modf" &&
        std::ranges::all_of(arguments.positional, [](const Value& argument) {
            return is_scalar(argument.type) && argument.type->scalar == ScalarType::kFloat32;
        });
    const ScalarType computed = is_narrow ? ScalarType::kFloat32 : ScalarType::kFloat64;
    std::vector<Value> operands;
    for (const Value& argument : arguments.positional) {
        if (!is_scalar(argument.type) || is_complex(argument.type))
            fail(where, path + " takes real numbers, not " + lang::describe(argument.type));
        const bool exponent = name == "ldexp" && !operands.empty();
        operands.push_back(exponent ? argument
                                    : scalar(scalar_type(computed, !is_narrow), cast(argument, computed)));
    }
    Value result = by_loop(*op, operands, where);
    if (is_scalar(result.type)) result.type = scalar_type(result.type->scalar, !is_narrow);
    if (name == "frexp")
        return tuple(
            {scalar(scalar_type(ScalarType::kFloat64, true), result.parts[0]),
             scalar(scalar_type(ScalarType::kInt64, true), cast(tuple_item(result, 1), ScalarType::kInt64))});
    if (name == "modf") result.type = tuple_type({2, scalar_type(ScalarType::kFloat64, true)});
    return result;
}

Value FunctionLowering::call_known(const Symbol& symbol, const Arguments& given) {
    if (symbol.path == "builtins.print") return call_print(given);
    if (symbol.path == "builtins.str" || symbol.path == "builtins.repr")
        return call_text(symbol.path == "builtins.repr", given);
    if (symbol.path == "builtins.slice") return make_slice("slice", given);
    Arguments arguments = given;
    for (Value& value : arguments.positional) value = required(value, given.where);
    const std::string& path = symbol.path;
    const size_t dot = path.rfind('.');
    const std::string module = path.substr(0, dot), name = path.substr(dot + 1);
    if (module == "math") return call_math(name, arguments);
    if (module == "numpy" && name.starts_with("_engine_") && source_.is_prelude)
        return ArrayFunctions(*this, name.substr(std::string_view("_engine_").size()), arguments)
            .call_engine();
    if (source_.is_prelude && module == "numpy" && arguments.positional.size() == 1) {
        Strings texts(*this, arguments.where);
        if (name == "_new_text") return texts.allocated(arguments.positional[0]);
        if (name == "_text_of") return texts.wrapped(arguments.positional[0]);
        if (name == "_points_of") return texts.points(arguments.positional[0]);
    }
    if (const DateType* const date = symbol.layout == nullptr ? nullptr : date_of(symbol.layout->record)) {
        expect_arguments(name_of(*date), arguments, 1, 1);
        Value value = arguments.positional[0];
        if (is_structures(value.type) && value.type->rank == 0) value = load({value, {}});
        if (Dates::is_date(value)) return Dates(*this, arguments.where).converted(value, *date);
    }
    if (module == "numpy" && (name == "datetime64" || name == "timedelta64"))
        return Dates(*this, arguments.where).make(name == "timedelta64", arguments);
    if (module == "numpy" &&
        (Dates::any(arguments.positional) || std::ranges::any_of(arguments.keywords, [](const auto& keyword) {
             return Dates::is_date(keyword.second);
         }))) {
        if (const std::optional<Value> result = Dates(*this, arguments.where).call(name, arguments))
            return *result;
    }
    const bool of_sequence = module == "numpy.polynomial.polyutils" && !arguments.positional.empty() &&
                             is_array(arguments.positional[0].type);
    if (module == "numpy" || module == "numpy.linalg" || module == "numpy.fft" || of_sequence ||
        module == "numpy.polynomial.polynomial" || module == "numpy.lib.stride_tricks") {
        if (std::ranges::find(kOfTruth, name) != std::end(kOfTruth) && arguments.positional.size() == 1 &&
            ArrayTexts::is_text(arguments.positional[0].type)) {
            Arguments truths = arguments;
            truths.positional[0] = ArrayTexts(*this, arguments.where).truths(arguments.positional[0]);
            return call_known(symbol, truths);
        }
        ArrayFunctions(*this, name, arguments).expect_arguments(module);
        if (const std::optional<Value> result = by_axis(symbol, arguments)) return *result;
        if (const std::optional<Value> result = ArrayFunctions(*this, name, arguments).call(module))
            return *result;
    }
    if (module == "numpy.random" || module == "numpy.random.mtrand")
        return Draws(*this, ThreadStreamOf::kNumpy, name, arguments).call();
    if (module == "random") return Draws(*this, ThreadStreamOf::kPython, name, arguments).call();
    if (path.starts_with(Kernels::kPaths))
        return Kernels(*this, std::string_view(path).substr(Kernels::kPaths.size()), arguments.where)
            .call(arguments);
    if (path == "cffi.FFI.from_buffer") {  // where an array begins: what a function of CUDA C++ is given
        expect_arguments("from_buffer", arguments, 1, 1);
        return arguments.positional[0];
    }
    if (path == "weft.prange") return call_range(arguments);
    if (path == "weft.get_thread_id") {
        expect_arguments("get_thread_id", arguments, 0, 0);
        if (compilation_.options().parallel)
            fail(arguments.where,
                 "get_thread_id() is not compiled: no iteration of a parallel loop belongs to a thread",
                 "Make the arrays that an iteration needs for itself inside of the loop.");
        return integer(0);
    }
    if (path == "weft.get_num_threads") {
        expect_arguments("get_num_threads", arguments, 0, 0);
        return call_prelude("builtins.thread_count", arguments);
    }
    if (path == "numba.typed.Dict.empty") return Dicts(*this, arguments.where).make_empty(arguments);
    if (path == "weft.border_dtype") return dtype_of_border(arguments);
    if (path == "weft.may_overlap")
        return boolean(std::any_of(
            arguments.positional.begin() + 1, arguments.positional.end(), [&](const Value& other) {
                return is_array(other.type) && other.type->scope == arguments.positional[0].type->scope;
            }));
    if (module == "builtins") {
        static constexpr std::string_view kFolds[] = {"sum", "min", "max", "any", "all"};
        if (!arguments.positional.empty() &&
            std::find(std::begin(kFolds), std::end(kFolds), name) != std::end(kFolds)) {
            Value& first = arguments.positional[0];
            if (is_set(first.type)) first = Sets(*this, arguments.where).items(first);
            if (is_dict(first.type)) first = Dicts(*this, arguments.where).keys(first);
        }
        if (const std::optional<Value> result = call_builtin(name, arguments)) return *result;
    }
    if (module == "numpy") {
        static constexpr std::string_view kMade[] = {"empty",      "zeros",      "ones",      "full",
                                                     "empty_like", "zeros_like", "ones_like", "full_like"};
        if (std::find(std::begin(kMade), std::end(kMade), name) != std::end(kMade))
            return call_allocate(name, arguments);
        const bool of_array = !arguments.positional.empty() && is_array(arguments.positional[0].type);
        // A list, a tuple or a number stands for an array.
        const bool for_array =
            of_array || (!arguments.positional.empty() &&
                         (is_list(arguments.positional[0].type) || is_scalar(arguments.positional[0].type) ||
                          arguments.positional[0].type->kind == TypeKind::kTuple));
        if (for_array) {
            Arguments rest = arguments;
            rest.positional.erase(rest.positional.begin());
            for (const auto function :
                 {&FunctionLowering::array_reduction, &FunctionLowering::array_with_shape}) {
                if (const auto result = (this->*function)(arguments.positional[0], name, rest))
                    return *result;
            }
        }
        if (name == "array" || name == "asarray") return call_array(arguments, name == "asarray");
        if (name == "where") return call_where(arguments);
        if (name == "nditer") return call_iterator(arguments);
        static constexpr std::string_view kJoined[] = {"concatenate", "stack",  "vstack",      "row_stack",
                                                       "hstack",      "dstack", "column_stack"};
        if (std::find(std::begin(kJoined), std::end(kJoined), name) != std::end(kJoined))
            return call_joined(name, arguments);
        if (name == "diag") return call_diagonal(arguments);
        const bool of_number = arguments.positional.size() == 1 && arguments.keywords.empty() &&
                               (of_array || is_scalar(arguments.positional[0].type));
        if ((name == "real" || name == "imag") && of_number)
            return attribute_of(arguments.positional[0], name, arguments.where);
        if (name == "dtype") {
            expect_arguments(path, arguments, 1, 1);
            const auto dtype = dtype_of(arguments.positional[0], arguments.where);
            return {symbol_type(symbol_of_dtype(dtype.value_or(ScalarType::kFloat64))), {}, 0};
        }
        if (name == "copy" && for_array) {
            const Value order = order_argument(name, arguments, 1);
            const Value& given = arguments.positional[0];
            const Value array = of_array ? given : array_of(given, std::nullopt, arguments.where);
            return copied_in(array, order_given(order, 'K', name, arguments.where), arguments.where);
        }
        if (name == "copy" && arguments.positional.size() == 1 && is_strided(arguments.positional[0].type))
            return call_method(arguments.positional[0], name, {{}, arguments.keywords, arguments.where});
        if (const DTypeInfo* dtype = DType::find(name); dtype != nullptr && name != "abs")
            return call_convert(dtype->scalar_type, false, arguments);
        const OpInfo* op = find_op(name);
        if (op != nullptr && op->flags.is_ufunc) return call_ufunc(*op, arguments);
    }
    if (module == "cmath" && name == "log" && arguments.positional.size() == 2) {
        const Arguments top{{arguments.positional[0]}, {}, arguments.where};
        const Arguments base{{arguments.positional[1]}, {}, arguments.where};
        return divide("truediv", call_known(symbol, top), call_known(symbol, base), arguments.where);
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
    if (module == "numpy" && (name == "linspace" || name == "eye" || name == "identity"))
        return call_made(name, arguments);
    if (module == "numpy" && name == "arange") return call_arange(arguments);
    if (path == "_functools.reduce") {
        expect_arguments("reduce", arguments, 2, 3);
        return call_prelude(arguments.positional.size() == 2 ? "builtins.reduce_of" : "builtins.reduce_from",
                            arguments);
    }
    if (module == "_operator") {
        if (const std::optional<Value> result = call_operator(name, arguments)) return *result;
    }
    if (module == "cmath" && (name == "isfinite" || name == "isinf" || name == "isnan")) {
        expect_arguments(path, arguments, 1, 1);
        Value result = by_loop(*find_op(name), arguments.positional, arguments.where);
        result.type = scalar_type(ScalarType::kBool, true);
        return result;
    }
    if ((module == "cmath" || module == "_heapq") && find_in_prelude(path) != nullptr)
        return call_prelude(path, arguments);
    fail(arguments.where, path + " is not compiled yet", kCallOutside);
}

}  // namespace weft::lang
