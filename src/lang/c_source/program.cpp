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
    for (const auto& [name, type] : given) {
        types.emplace(name, type);
        type_names.known.push_back(name);
    }
    const std::vector<Token> tokens = tokenise(preamble, macros);
    definitions = parse_definitions(tokens, type_names);
    for (const auto& [name, of] : definitions.aliases) types.insert_or_assign(name, type(of));
    for (const CFunction& function : definitions.functions) function_names.insert(function.name);
}

ScalarType Program::type(const TypeName& name) const {
    if (name.name == "complex") {
        const ScalarType part = type(*name.of);
        if (part == ScalarType::kFloat32) return ScalarType::kComplex64;
        if (part == ScalarType::kFloat64) return ScalarType::kComplex128;
        throw OutsideSubset(name.place, "a complex number of " + c_name(part) + " is outside of the subset");
    }
    if (bound_ != nullptr) {
        if (const auto found = bound_->find(name.name); found != bound_->end()) return found->second;
    }
    if (const auto found = types.find(name.name); found != types.end()) return found->second;
    if (const auto found = language_types().find(name.name); found != language_types().end())
        return found->second;
    throw OutsideSubset(name.place, "'" + name.name + "' is no type of a number");
}

const Program::Made& Program::function(const std::string& name, std::span<const TypeName> given,
                                       std::span<const ScalarType> arguments, const Place& place) {
    std::vector<Candidate> fitting, exact;
    for (const CFunction& one : definitions.functions) {
        if (one.name != name) continue;
        if (std::optional<Candidate> found = candidate(one, given, arguments)) {
            if (found->is_exact) exact.push_back(*found);
            fitting.push_back(std::move(*found));
        }
    }
    if (fitting.empty()) throw OutsideSubset(place, "no " + name + "() takes these arguments");
    if (exact.size() > 1)  // a function comes before templates
        std::erase_if(exact, [](const Candidate& one) { return !one.function->types.empty(); });
    const std::vector<Candidate>& best = exact.empty() ? fitting : exact;
    if (best.size() != 1) throw OutsideSubset(place, "which " + name + "() is meant is not clear");
    const CFunction& chosen = *best[0].function;
    std::string key = name + "_" + std::to_string(&chosen - definitions.functions.data());
    for (const auto& [_, of] : best[0].bound) key += "_" + std::string(ir::scalar_name(of));
    if (const auto found = made_.find(key); found != made_.end()) return found->second;
    if (being_made_.contains(key)) throw OutsideSubset(place, name + "() calls itself");
    being_made_.insert(key);
    Made made = make(chosen, best[0].bound, key);
    being_made_.erase(key);
    return made_.emplace(key, std::move(made)).first->second;
}

// Nothing where the function does not take these arguments.
std::optional<Program::Candidate> Program::candidate(const CFunction& function,
                                                     std::span<const TypeName> given,
                                                     std::span<const ScalarType> arguments) const {
    if (function.parameters.size() != arguments.size() || given.size() > function.types.size()) return {};
    Candidate result{.function = &function};
    for (size_t k = 0; k < given.size(); ++k) result.bound[function.types[k]] = type(given[k]);
    for (size_t k = 0; k < arguments.size(); ++k) {
        const TypeName& wanted = function.parameters[k].type;
        const TypeName& part = wanted.of != nullptr ? *wanted.of : wanted;
        const auto place = std::ranges::find(function.types, part.name);
        if (place == function.types.end()) {
            if (function.parameters[k].is_reference && type(wanted) != arguments[k]) return {};
            result.is_exact = result.is_exact && type(wanted) == arguments[k];
            continue;
        }
        if (place - function.types.begin() < std::ssize(given)) continue;
        const DType argument(arguments[k]);
        if (wanted.of != nullptr && !argument.is_complex()) return {};
        const ScalarType of = wanted.of != nullptr ? argument.real().scalar_type() : arguments[k];
        if (result.bound.emplace(part.name, of).first->second != of) return {};
    }
    if (result.bound.size() != function.types.size()) return {};
    return result;
}

Program::Made Program::make(const CFunction& function, std::map<std::string, ScalarType, std::less<>> bound,
                            const std::string& key) {
    const auto* const before = std::exchange(bound_, &bound);
    Made made;
    made.name = key;
    if (function.result.name == "auto")
        throw OutsideSubset(function.result.place, "a function of the subset gives a number of a named type");
    if (function.result.name != "void") made.result = type(function.result);
    ir::Builder builder(key);
    Surroundings nothing;
    Lowering lowering(*this, nothing, builder);
    lowering.declare_constants([&](std::string_view one) { return mentions(*function.body, one); });
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
    bound_ = before;
    return made;
}

void Program::finish(ir::Module& module) const {
    for (const ir::Function& one : functions_) {
        module.functions.push_back(one);
        module.functions.back().is_kernel = false;
    }
}

}  // namespace weft::lang::c_source
