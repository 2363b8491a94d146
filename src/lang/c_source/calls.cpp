// Calls. What takes and gives numbers is a function of the IR. Others, whose parameters lead into their
// caller's memory, are put in the place of the call: what they are given is known there.
#include <algorithm>
#include <utility>

#include "lang/c_source/lowering.h"
#include "ops/op.h"

namespace weft::lang::c_source {

using ir::ValueId;

namespace {

constexpr size_t kMostInPlace = 64;  // functions within each other

// A `continue` without a loop of its own is one, too: of a kernel, whose loop is not in sight.
int returns_in(const Statement& statement, bool is_in_loop = false) {
    if (statement.kind == StatementKind::kReturn) return 1;
    if (statement.kind == StatementKind::kContinue) return is_in_loop ? 0 : 1;
    const bool is_loop = statement.kind == StatementKind::kFor || statement.kind == StatementKind::kWhile ||
                         (statement.kind == StatementKind::kDo && !statement.is_switch);
    int count = 0;
    for (const StatementPtr& one : statement.statements) count += returns_in(*one, is_in_loop || is_loop);
    return count;
}

// Whether nothing comes behind its only return.
bool returns_at_end(const Statement& body) {
    const int count = returns_in(body);
    return count == 0 || (count == 1 && body.statements.back()->kind == StatementKind::kReturn);
}

bool is_within(const CType& given, const CType& wanted) {
    return given.pointers == wanted.pointers && given.structure == wanted.structure;
}

}  // namespace

Lowering::Value Lowering::argument(const Expression& expression) {
    const CType type = shape(expression);
    if (type.pointers != 0) return pointer(expression);
    if (expression.kind == ExpressionKind::kList)
        throw OutsideSubset(expression.place, "a structure that is given has its type's name");
    const bool may_be_named = expression.kind == ExpressionKind::kName ||
                              expression.kind == ExpressionKind::kIndex ||
                              expression.kind == ExpressionKind::kMember ||
                              (expression.kind == ExpressionKind::kUnary && expression.text == "*");
    if (may_be_named && (expression.kind != ExpressionKind::kMember || expression.after)) {
        const bool is_of_loop = expression.kind == ExpressionKind::kIndex &&
                                expression.operands[0]->kind == ExpressionKind::kMember &&
                                !expression.operands[0]->after;  // y.shape()[0]
        if (std::optional<Target> place = is_of_loop ? std::nullopt : target(expression)) {
            Value result{.type = place->type, .is_read = false};
            result.target = std::move(place);
            return result;
        }
    }
    Value result{.type = type};
    if (type.structure != nullptr) {
        result.leaves = structure_value(expression, *type.structure);
    } else {
        result.number = value(expression);
        result.type.scalar = result.number.type;
    }
    return result;
}

void Lowering::read(Value& value) {
    if (std::exchange(value.is_read, true)) return;
    if (value.type.structure != nullptr) {
        value.leaves = leaves_of(*value.target);
    } else {
        value.number = load(*value.target);
    }
}

std::optional<Program::Chosen> Lowering::choose(const std::string& name, std::span<const TypeName> types,
                                                std::span<const Value> arguments, const Place& place,
                                                const CStructure* of) {
    std::vector<Program::Given> given;
    for (const Value& one : arguments)
        given.push_back({one.type, one.target && one.target->why_constant.empty()});
    return program_.choose(
        name, types, given, place, [&](const Expression& number) { return known(number); }, of);
}

CType Lowering::shape_of_call(const std::string& name, const std::vector<const Expression*>& operands,
                              const CStructure* of) {
    std::vector<CType> given;
    for (const Expression* const one : operands) given.push_back(shape(*one));
    if (of == nullptr && name.starts_with("operator") && given[0].structure != nullptr) {
        const CStructure& left = *given[0].structure;
        const bool is_method =
            std::ranges::any_of(left.functions, [&](const CFunction& one) { return one.name == name; });
        if (is_method) return shape_of_call(name, {operands.begin() + 1, operands.end()}, &left);
    }
    for (const CFunction& one : program_.functions_called(name, of)) {
        if (one.name != name || one.parameters.size() < operands.size() || one.result.name == "void" ||
            one.result.name == "auto")
            continue;
        std::optional<CType> bound;  // of a template's parameter that is the result
        const auto is_parameter = [&](const std::string& type) {
            return std::ranges::find(one.types, type) != one.types.end();
        };
        bool fits = true;
        for (size_t k = 0; k < operands.size(); ++k) {
            const TypeName& wanted = one.parameters[k].type;
            if (!is_parameter(wanted.name)) {
                const bool is_complex = wanted.of != nullptr;
                if (is_to_anything(wanted)) {
                    fits = fits && given[k].pointers == 1;
                    continue;
                }
                fits = fits && is_within(given[k], is_complex ? CType{} : program_.full_type(wanted));
                continue;
            }
            CType type = given[k];
            type.pointers -= wanted.pointers;
            fits = fits && type.pointers >= 0;
            if (wanted.name == one.result.name) bound = type;
        }
        if (!fits) continue;
        if (is_parameter(one.result.name)) {
            CType result = bound.value_or(CType{});
            result.pointers += one.result.pointers;
            return result;
        }
        return one.result.of != nullptr ? CType{} : program_.full_type(one.result);
    }
    return {};
}

Lowering::Value Lowering::call(const Expression& expression, bool may_give_nothing) {
    const std::string& called = expression.text;
    if (called.starts_with("atomic")) {
        const Number result = atomic(expression);
        return {.type = {result.type}, .number = result};
    }
    if (called.starts_with("numeric_limits::")) {
        const std::string_view name = std::string_view(called).substr(called.rfind(':') + 1);
        const Number result = numbers_.limit(program_.type(expression.types[0]), name, expression.place);
        return {.type = {result.type}, .number = result};
    }
    // A method calls others of its object by their names alone.
    if (const size_t object = scopes_.find("this"); object != Scopes::kNone) {
        const CStructure& of = *scopes_[object].type.structure;
        const bool is_method =
            std::ranges::any_of(of.functions, [&](const CFunction& one) { return one.name == called; });
        if (is_method) {
            const Target self = pointed_to(value_of_pointer(object, expression.place), expression.place);
            return call_method_of(self, called, std::span(expression.operands), expression.place);
        }
    }
    std::vector<Value> arguments;
    for (const ExpressionPtr& one : expression.operands) arguments.push_back(argument(*one));
    if (program_.function_names.contains(called)) {
        const auto chosen = choose(called, expression.types, arguments, expression.place);
        if (!chosen) throw OutsideSubset(expression.place, "no " + called + "() takes these arguments");
        const bool gives_nothing =
            chosen->function->result.name == "void" && chosen->function->result.pointers == 0;
        if (gives_nothing && !may_give_nothing)
            throw OutsideSubset(expression.place, called + "() gives nothing");
        return call_function(*chosen, std::move(arguments), expression.place);
    }
    if (!numbers_.is_function(called))
        throw OutsideSubset(expression.place, "the function " + called + "() is not known");
    const bool is_template = !expression.types.empty();
    if (expression.types.size() > 1 || (is_template && called != "min" && called != "max"))
        throw OutsideSubset(expression.place, called + "() is no template");
    std::vector<Number> given;
    for (size_t k = 0; k < arguments.size(); ++k) {
        read(arguments[k]);
        const Place& place = expression.operands[k]->place;
        Number one = number_of(arguments[k], place);
        if (is_template) one = numbers_.convert(one, program_.type(expression.types[0]), place);
        given.push_back(one);
    }
    const Number result = numbers_.call(called, given, expression.place);
    return {.type = {result.type}, .number = result};
}

Lowering::Value Lowering::call_function(const Program::Chosen& chosen, std::vector<Value> arguments,
                                        const Place& place) {
    const CFunction& function = *chosen.function;
    bool stands_alone = makes_functions_ && program_.is_of_numbers(chosen);
    std::set<size_t> referred;
    for (size_t k = 0; stands_alone && k < arguments.size(); ++k) {
        const std::optional<Target>& of = arguments[k].target;
        if (!arguments[k].type.is_number()) stands_alone = false;
        if (!function.parameters[k].is_reference || !of) continue;
        // Two names of the same variable.
        stands_alone = of->kind == Target::Kind::kVariable && referred.insert(leaf_of(*of)).second;
    }
    if (!stands_alone) return put_in_place(chosen, std::move(arguments), {}, place);
    // Copied, as functions that are made later move it.
    const Program::Made made = program_.function(chosen, place);
    std::vector<ValueId> given;
    for (size_t k = 0; k < arguments.size(); ++k) {
        read(arguments[k]);
        given.push_back(numbers_.convert(arguments[k].number, made.parameters[k], place).id);
    }
    std::vector<ir::Type> results;
    if (made.result) results.push_back(ir::Type::of(*made.result));
    for (const size_t k : made.references) results.push_back(ir::Type::of(made.parameters[k]));
    const std::vector<ValueId> values = numbers_.builder().call(made.name, results, given);
    for (size_t j = 0; j < made.references.size(); ++j) {
        const size_t k = made.references[j];
        store(*arguments[k].target, {made.parameters[k], values[j + (made.result ? 1 : 0)]});
    }
    if (!made.result) return {};
    return {.type = {*made.result}, .number = {*made.result, values[0]}};
}

void Lowering::add_parameter(const CParameter& parameter, const CType& type, Value& value,
                             const Place& place) {
    if (type.pointers != 0) {
        Variable variable{.name = parameter.name, .value = {ScalarType::kInt64, numbers_.builder().index(0)}};
        variable.pointer.emplace();
        variable.type = type;
        const size_t index = scopes_.add(std::move(variable));
        assign_pointer(index, value, place);
        scopes_[index].is_constant = parameter.is_constant;
        return;
    }
    const bool is_alias = parameter.is_reference || parameter.is_const_reference;
    if (is_alias && value.target && (type.structure != nullptr || value.type.scalar == type.scalar)) {
        Variable variable{.name = parameter.name};
        variable.alias = value.target;
        if (parameter.is_const_reference && variable.alias->why_constant.empty())
            variable.alias->why_constant = "a const parameter";
        scopes_.add(std::move(variable));
        return;
    }
    read(value);
    if (type.structure == nullptr) {
        scopes_.add({parameter.name, numbers_.convert(value.number, type.scalar, place),
                     parameter.is_constant, "a const parameter"});
        return;
    }
    const size_t root = declare(parameter.name, type, {});
    set_leaves(target_of_variable(root, place), value.leaves);
    scopes_[root].is_constant = parameter.is_constant;
    scopes_[root].why_constant = "a const parameter";
}

Lowering::Value Lowering::put_in_place(const Program::Chosen& chosen, std::vector<Value> arguments,
                                       const std::optional<Target>& object, const Place& place) {
    const CFunction& function = *chosen.function;
    if (std::ranges::find(in_place_, &function) != in_place_.end())
        throw OutsideSubset(place, function.name + "() calls itself");
    if (in_place_.size() == kMostInPlace) throw OutsideSubset(place, "functions are nested too deep");
    if (function.result.name == "auto")
        throw OutsideSubset(function.result.place, "a function of the subset gives a value of a named type");
    // Values are those before the call.
    for (size_t k = 0; k < arguments.size(); ++k) {
        const CParameter& parameter = function.parameters[k];
        if (!parameter.is_reference && !parameter.is_const_reference) read(arguments[k]);
    }
    Value self;
    if (object) self = pointer_to(*object, place);
    in_place_.push_back(&function);
    const Program::Bound bound_before = program_.bind(&chosen.types);
    scopes_.open();
    const size_t floor = scopes_.hide();
    std::optional<Returns> around = std::exchange(returns_, Returns{.is_in_place = true});
    for (const auto& [name, number] : chosen.numbers)
        scopes_.add({name, numbers_.integer(ScalarType::kInt32, number), true, "a template's", number});
    Returns& returns = *returns_;
    const bool gives = function.result.name != "void" || function.result.pointers != 0;
    if (gives) {
        returns.gives = program_.full_type(function.result);
        if (returns.gives.pointers != 0) {
            Variable result{.name = "the result", .value = {ScalarType::kInt64, numbers_.builder().index(0)}};
            result.pointer.emplace();
            result.type = returns.gives;
            returns.variable = scopes_.add(std::move(result));
        } else {
            returns.variable = declare("the result", returns.gives, {});
        }
    }
    for (size_t k = 0; k < function.parameters.size(); ++k) {
        const CParameter& parameter = function.parameters[k];
        if (k >= arguments.size()) arguments.push_back(argument(*parameter.otherwise));
        const CType type =
            is_to_anything(parameter.type) ? arguments[k].type : program_.full_type(parameter.type);
        add_parameter(parameter, type, arguments[k], place);
    }
    if (object) {
        Variable variable{.name = "this", .value = {ScalarType::kInt64, numbers_.builder().index(0)}};
        variable.pointer.emplace();
        variable.type = self.type;
        const size_t index = scopes_.add(std::move(variable));
        assign_pointer(index, self, place);
    }
    if (function.is_constructor) begin_members(function, *object);
    body_in_place(*function.body);
    Value result;
    if (gives) {
        const size_t variable = returns.variable;
        result.type = returns.gives;
        if (result.type.pointers != 0) {
            result = value_of_pointer(variable, place);
        } else if (result.type.structure != nullptr) {
            result.leaves = leaves_of(target_of_variable(variable, place));
        } else {
            result.number = scopes_[variable].value;
        }
    }
    returns_ = std::move(around);
    scopes_.show(floor);
    scopes_.close();
    program_.bind(bound_before);
    in_place_.pop_back();
    return result;
}

void Lowering::kernel(const Statement& block) {
    if (returns_in(block) == 0) {
        statements(block);
        return;
    }
    returns_ = Returns{.is_in_place = true, .is_kernel = true};
    body_in_place(block);
    returns_.reset();
}

// A return that is not the last statement leaves a loop that runs once.
void Lowering::body_in_place(const Statement& body) {
    returns_->first_loop = loops_.size();
    if (returns_at_end(body)) {
        block(body);
        return;
    }
    std::set<std::string> names{"this"};
    add_assigned(body, program_.function_names, names);
    const std::vector<size_t> assigned = scopes_.of_names(names);
    std::set<size_t> all(assigned.begin(), assigned.end());
    if (returns_->variable != Scopes::kNone) scopes_.add_numbers(returns_->variable, {}, all);
    const Loop one{.carried = {all.begin(), all.end()}, .is_switch = true};
    const std::vector<ValueId> results = numbers_.builder().while_loop(
        values_of(one.carried),
        [&](ir::Builder& inner, std::span<const ValueId> values) {
            std::vector<ValueId> yielded{inner.constant(Constant::of(ScalarType::kBool, true))};
            yielded.insert(yielded.end(), values.begin(), values.end());
            return yielded;
        },
        [&](ir::Builder& inner, std::span<const ValueId> values) {
            ir::Builder* const outer = &numbers_.builder();
            numbers_.use(&inner);
            set_values(one.carried, values);
            loops_.push_back(one);
            returns_->loop = loops_.size() - 1;
            returns_->first_loop = loops_.size();
            block(body);
            if (!has_ended()) leave(returns_->loop);
            loops_.pop_back();
            numbers_.use(outer);
            return std::vector<ValueId>{};
        });
    set_values(one.carried, results);
}

// What a constructor's members are before its body.
void Lowering::begin_members(const CFunction& constructor, const Target& object) {
    for (const StatementPtr& declaration : object.type.structure->members) {
        for (const Declarator& one : declaration->names) {
            const auto given = std::ranges::find_if(constructor.first,
                                                    [&](const auto& each) { return each.first == one.name; });
            const Target place = member(object, one.name, one.place);
            if (given == constructor.first.end()) {
                if (one.initial != nullptr) set_member(place, *one.initial);
                continue;
            }
            const std::vector<ExpressionPtr>& values = given->second->operands;
            if (values.size() == 1) {
                set_member(place, *values[0]);
            } else if (!values.empty() && place.type.structure != nullptr) {
                set_leaves(place, construct(*place.type.structure, values, place.place).leaves);
            } else if (!values.empty()) {
                throw OutsideSubset(given->second->place, "a number is made of one number");
            }
        }
    }
}

Lowering::Value Lowering::construct(const CStructure& of, const std::vector<ExpressionPtr>& operands,
                                    const Place& place) {
    std::vector<Value> arguments;
    for (const ExpressionPtr& one : operands) arguments.push_back(argument(*one));
    Value result{.type = {.scalar = ScalarType::kInt32, .structure = &of}};
    if (arguments.size() == 1 && arguments[0].type == result.type) {  // a copy
        read(arguments[0]);
        return arguments[0];
    }
    const auto chosen = choose(of.name, {}, arguments, place, &of);
    if (!chosen && !arguments.empty())
        throw OutsideSubset(place, "no constructor of " + of.name + " takes these arguments");
    const Target made = temporary(of, {}, place);
    if (chosen) put_in_place(*chosen, std::move(arguments), made, place);
    result.leaves = leaves_of(made);
    return result;
}

Lowering::Value Lowering::call_method(const Expression& expression) {
    const Expression& object = *expression.operands[0];
    const CType of = shape(object);
    if (of.structure == nullptr || of.pointers != 0)
        throw OutsideSubset(expression.place, "." + expression.text + " is outside of the subset");
    std::optional<Target> self = target(object);
    if (!self) {
        const std::vector<Number> leaves = structure_value(object, *of.structure);
        self = temporary(*of.structure, leaves, expression.place);
    }
    return call_method_of(*self, expression.text, std::span(expression.operands).subspan(1),
                          expression.place);
}

Lowering::Value Lowering::call_method_of(const Target& self, const std::string& name,
                                         std::span<const ExpressionPtr> operands, const Place& place) {
    std::vector<Value> arguments;
    for (const ExpressionPtr& one : operands) arguments.push_back(argument(*one));
    const CStructure& of = *self.type.structure;
    const auto chosen = choose(name, {}, arguments, place, &of);
    if (!chosen) throw OutsideSubset(place, "no ." + name + "() of " + of.name + " takes these arguments");
    return put_in_place(*chosen, std::move(arguments), self, place);
}

std::optional<Lowering::Value> Lowering::call_operator(const Expression& expression) {
    const auto is_structure = [&](const ExpressionPtr& one) {
        const CType type = shape(*one);
        return type.structure != nullptr && type.pointers == 0;
    };
    if (std::ranges::none_of(expression.operands, is_structure)) return {};
    const std::string name = "operator" + expression.text;
    std::vector<Value> arguments;
    for (const ExpressionPtr& one : expression.operands) arguments.push_back(argument(*one));
    if (const CStructure* const left = arguments[0].type.structure) {
        const std::span<const Value> others = std::span(arguments).subspan(1);
        if (const auto method = choose(name, {}, others, expression.place, left)) {
            std::optional<Target> self = arguments[0].target;
            if (!self) self = temporary(*left, arguments[0].leaves, expression.place);
            return put_in_place(*method, {others.begin(), others.end()}, self, expression.place);
        }
    }
    const auto chosen = choose(name, {}, arguments, expression.place);
    if (!chosen) throw OutsideSubset(expression.place, "no " + name + " takes these arguments");
    return call_function(*chosen, std::move(arguments), expression.place);
}

Number Lowering::atomic(const Expression& expression) {
    const std::string usage =
        expression.text + "(&y[i], value), of a raw output y, is the form of the subset";
    if (expression.operands.size() != 2 || shape(*expression.operands[0]).pointers == 0)
        throw OutsideSubset(expression.place, usage);
    const Value at = pointer(*expression.operands[0]);
    if (at.pointer.to.kind != Target::Kind::kRawArray) throw OutsideSubset(expression.place, usage);
    const Number operand = value(*expression.operands[1]);
    return around_->atomic(numbers_, expression.text, at.pointer.to.raw, at.number, operand,
                           expression.place);
}

}  // namespace weft::lang::c_source
