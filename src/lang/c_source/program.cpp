// What all functions of a kernel share: its preamble's types, constants and functions.
#include <algorithm>

#include "lang/c_source/lowering.h"

namespace weft::lang::c_source {

namespace {

const std::map<std::string, ScalarType, std::less<>>& language_types() {
    using enum ScalarType;
    static const std::map<std::string, ScalarType, std::less<>> types = {
        {"bool", kBool},         {"char", kInt8},
        {"signed char", kInt8},  {"unsigned char", kUInt8},
        {"short", kInt16},       {"unsigned short", kUInt16},
        {"int", kInt32},         {"unsigned int", kUInt32},
        {"long", kInt64},        {"unsigned long", kUInt64},
        {"float", kFloat32},     {"double", kFloat64},
        {"size_t", kUInt64},     {"ptrdiff_t", kInt64},
        {"intptr_t", kInt64},    {"uintptr_t", kUInt64},
        {"int8_t", kInt8},       {"int16_t", kInt16},
        {"int32_t", kInt32},     {"int64_t", kInt64},
        {"uint8_t", kUInt8},     {"uint16_t", kUInt16},
        {"uint32_t", kUInt32},   {"uint64_t", kUInt64},
        {"uint", kUInt32},       {"ushort", kUInt16},
        {"uchar", kUInt8},       {"float16", kFloat16},
        {"half", kFloat16},      {"__half", kFloat16},
        {"bfloat16", kBFloat16},
    };
    return types;
}

}  // namespace

Program::Program(const SourceText& preamble, std::span<const std::pair<std::string, ScalarType>> given) {
    type_names = known_functions().types;
    for (const auto& [name, type] : given) {
        types.insert_or_assign(name, CType{type});
        type_names.known.push_back(name);
    }
    const std::vector<Token> tokens = tokenise(preamble, macros);
    definitions = parse_definitions(tokens, type_names);
    for (const auto& [name, of] : definitions.aliases) types.insert_or_assign(name, full_type(of));
    for (const CFunction& function : known_functions().definitions.functions)
        function_names.insert(function.name);
    for (const CFunction& function : definitions.functions) function_names.insert(function.name);
    for (const auto& structure : definitions.structures) {
        for (const CFunction& method : structure->functions) function_names.insert(method.name);
    }
}

const CStructure* Program::structure(std::string_view name) const {
    for (const Definitions* const each : {&definitions, &known_functions().definitions}) {
        for (const auto& one : each->structures) {
            if (one->name == name) return one.get();
        }
    }
    return nullptr;
}

std::span<const CFunction> Program::functions_called(std::string_view name, const CStructure* of) const {
    if (of != nullptr) return of->functions;
    const bool is_own =
        std::ranges::any_of(definitions.functions, [&](const CFunction& one) { return one.name == name; });
    return is_own ? definitions.functions : known_functions().definitions.functions;
}

CType Program::full_type(const TypeName& name) const {
    const auto base = [&]() -> CType {
        if (name.name == "complex") {
            const ScalarType part = type(*name.of);
            if (part == ScalarType::kFloat32) return {ScalarType::kComplex64};
            if (part == ScalarType::kFloat64) return {ScalarType::kComplex128};
            throw OutsideSubset(name.place,
                                "a complex number of " + c_name(part) + " is outside of the subset");
        }
        if (bound_ != nullptr) {
            if (const auto found = bound_->find(name.name); found != bound_->end()) return found->second;
        }
        if (const auto found = types.find(name.name); found != types.end()) return found->second;
        if (const CStructure* const found = structure(name.name))
            return {.scalar = ScalarType::kInt32, .structure = found};
        if (const auto found = language_types().find(name.name); found != language_types().end())
            return {found->second};
        throw OutsideSubset(name.place, "'" + name.name + "' is no type of a number");
    };
    CType result = base();
    if (name.pointers != 0 && result.pointers == 0) result.to_const = name.points_to_const;
    result.pointers += name.pointers;
    if (result.pointers > 1)
        throw OutsideSubset(name.place, "pointers to pointers are outside of the subset");
    return result;
}

ScalarType Program::type(const TypeName& name) const {
    const CType result = full_type(name);
    if (!result.is_number()) throw OutsideSubset(name.place, "a number is wanted here, and this is none");
    return result.scalar;
}

bool is_to_anything(const TypeName& type) { return type.name == "void" && type.pointers == 1; }

bool Program::is_of_numbers(const Chosen& chosen) const {
    const CFunction& function = *chosen.function;
    const auto is_number = [&](const TypeName& type) {
        if (type.name == "void") return type.pointers == 0;
        if (const auto found = chosen.types.find(type.name); found != chosen.types.end())
            return type.pointers == 0 && found->second.is_number();
        return full_type(type).is_number();
    };
    return function.numbers.empty() && function.result.name != "auto" && is_number(function.result) &&
           std::ranges::all_of(function.parameters, [&](const CParameter& one) {
               return one.type.name != "void" && is_number(one.type) && one.otherwise == nullptr;
           });
}

bool Program::mentions(const std::function<bool(std::string_view)>& body_mentions,
                       std::string_view name) const {
    if (body_mentions(name)) return true;
    std::set<const CFunction*> seen;
    std::vector<const CFunction*> open;
    // Operators, constructors and methods are called without their names.
    for (const auto& structure : definitions.structures) {
        for (const CFunction& one : structure->functions) open.push_back(&one);
    }
    const auto add = [&](const std::function<bool(std::string_view)>& calls) {
        for (const CFunction& one : definitions.functions) {
            const bool is_called = one.name.starts_with("operator") || calls(one.name);
            if (is_called && seen.insert(&one).second) open.push_back(&one);
        }
    };
    add(body_mentions);
    while (!open.empty()) {
        const CFunction& one = *open.back();
        open.pop_back();
        if (c_source::mentions(*one.body, name)) return true;
        add([&](std::string_view other) { return c_source::mentions(*one.body, other); });
    }
    return false;
}

std::optional<Program::Chosen> Program::choose(
    const std::string& name, std::span<const TypeName> given, std::span<const Given> arguments,
    const Place& place, const std::function<std::optional<int64_t>(const Expression&)>& known,
    const CStructure* of) const {
    std::vector<Chosen> fitting, exact;
    for (const CFunction& one : functions_called(name, of)) {
        if (one.name != name) continue;
        if (std::optional<Chosen> found = candidate(one, given, arguments, known)) {
            if (found->is_exact) exact.push_back(*found);
            fitting.push_back(std::move(*found));
        }
    }
    if (fitting.empty()) return {};
    if (exact.size() > 1)  // a function comes before templates
        std::erase_if(exact, [](const Chosen& one) { return !one.function->types.empty(); });
    const std::vector<Chosen>& best = exact.empty() ? fitting : exact;
    if (best.size() != 1) throw OutsideSubset(place, "which " + name + "() is meant is not clear");
    return best[0];
}

const Program::Made& Program::function(const Chosen& chosen, const Place& place) {
    const CFunction& function = *chosen.function;
    const bool is_own = !definitions.functions.empty() && &function >= definitions.functions.data() &&
                        &function <= &definitions.functions.back();
    std::string key = function.name;
    if (is_own) key += "_" + std::to_string(&function - definitions.functions.data());
    for (const auto& [_, of] : chosen.types) key += "_" + std::string(ir::scalar_name(of.scalar));
    if (const auto found = made_.find(key); found != made_.end()) return found->second;
    if (being_made_.contains(key)) throw OutsideSubset(place, function.name + "() calls itself");
    being_made_.insert(key);
    Made made = make(chosen, key);
    being_made_.erase(key);
    return made_.emplace(key, std::move(made)).first->second;
}

// Nothing where the function does not take these arguments.
std::optional<Program::Chosen> Program::candidate(
    const CFunction& function, std::span<const TypeName> given, std::span<const Given> arguments,
    const std::function<std::optional<int64_t>(const Expression&)>& known) const {
    if (arguments.size() > function.parameters.size() || given.size() > function.types.size()) return {};
    for (size_t k = arguments.size(); k < function.parameters.size(); ++k) {
        if (function.parameters[k].otherwise == nullptr) return {};
    }
    Chosen result{.function = &function};
    for (size_t k = 0; k < given.size(); ++k) {
        const bool is_number =
            std::ranges::find(function.numbers, function.types[k]) != function.numbers.end();
        if (is_number != (given[k].number != nullptr)) return {};
        if (!is_number) {
            result.types[function.types[k]] = full_type(given[k]);
            continue;
        }
        const std::optional<int64_t> number = known(*given[k].number);
        if (!number) throw OutsideSubset(given[k].place, "a template takes an integer that is known");
        result.numbers[function.types[k]] = *number;
    }
    for (size_t k = 0; k < arguments.size(); ++k) {
        const CParameter& parameter = function.parameters[k];
        const TypeName& wanted = parameter.type;
        CType argument = arguments[k].type;
        const TypeName& part = wanted.of != nullptr ? *wanted.of : wanted;
        const auto place = std::ranges::find(function.types, part.name);
        if (parameter.is_reference && !arguments[k].is_named) return {};
        if (is_to_anything(wanted)) {
            if (argument.pointers != 1 || (argument.to_const && !wanted.points_to_const)) return {};
            result.is_exact = false;
            continue;
        }
        if (place != function.types.end() && place - function.types.begin() >= std::ssize(given)) {
            if (wanted.of != nullptr && (!argument.is_number() || !DType(argument.scalar).is_complex()))
                return {};
            if (wanted.of != nullptr) argument.scalar = DType(argument.scalar).real().scalar_type();
            if (wanted.pointers > argument.pointers) return {};
            if (wanted.pointers > 0) {
                if (argument.to_const && !wanted.points_to_const) return {};
                argument.pointers -= wanted.pointers;
                argument.to_const = argument.pointers != 0 && argument.to_const;
            }
            if (result.types.emplace(part.name, argument).first->second != argument) return {};
            continue;
        }
        CType type;
        if (const auto found = result.types.find(wanted.name); found != result.types.end()) {
            type = found->second;
            type.pointers += wanted.pointers;
            type.to_const = wanted.pointers != 0 && wanted.points_to_const;
        } else if (const auto inner = result.types.find(part.name);
                   wanted.of != nullptr && inner != result.types.end()) {
            type.scalar = inner->second.scalar == ScalarType::kFloat64 ? ScalarType::kComplex128
                                                                       : ScalarType::kComplex64;
        } else {
            type = full_type(wanted);
        }
        if (type.is_number() && argument.is_number()) {
            if (parameter.is_reference && type.scalar != argument.scalar) return {};
            result.is_exact = result.is_exact && type.scalar == argument.scalar;
            continue;
        }
        const bool adds_const = type.to_const && !argument.to_const;
        if (adds_const) argument.to_const = true;
        if (type != argument) return {};
        result.is_exact = result.is_exact && !adds_const;
    }
    if (result.types.size() + result.numbers.size() != function.types.size()) return {};
    return result;
}

Program::Made Program::make(const Chosen& chosen, const std::string& key) {
    const CFunction& function = *chosen.function;
    const Bound before = bind(&chosen.types);
    Made made;
    made.name = key;
    if (function.result.name != "void") made.result = type(function.result);
    ir::Builder builder(key);
    Surroundings nothing;
    Lowering lowering(*this, nothing, builder);
    lowering.declare_constants([&](std::string_view one) {
        return mentions([&](std::string_view other) { return c_source::mentions(*function.body, other); },
                        one);
    });
    lowering.scopes().open();
    Lowering::Returns returns{.result = made.result};
    std::vector<ir::Type> results;
    if (made.result) results.push_back(ir::Type::of(*made.result));
    std::vector<Variable> parameters;
    for (const CParameter& one : function.parameters) {
        const ScalarType of = type(one.type);
        if (one.is_reference) {
            made.references.push_back(made.parameters.size());
            returns.references.push_back(lowering.scopes().size() + parameters.size());
            results.push_back(ir::Type::of(of));
        }
        made.parameters.push_back(of);
        parameters.push_back({one.name,
                              {of, builder.parameter(ir::Type::of(of), one.name)},
                              one.is_constant,
                              "a const parameter"});
    }
    for (Variable& one : parameters) lowering.scopes().add(std::move(one));
    lowering.returns(returns);
    lowering.statements(*function.body);
    if (!lowering.has_ended()) {
        std::vector<ir::ValueId> values;
        if (made.result) values.push_back(lowering.numbers().zero(*made.result).id);
        for (const size_t variable : returns.references)
            values.push_back(lowering.scopes()[variable].value.id);
        builder.return_values(std::move(values));
    }
    functions_.push_back(builder.finish_function(std::move(results)));
    bind(before);
    return made;
}

void Program::finish(ir::Module& module) const {
    for (const ir::Function& one : functions_) {
        module.functions.push_back(one);
        module.functions.back().is_kernel = false;
    }
}

}  // namespace weft::lang::c_source
