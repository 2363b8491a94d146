#include <algorithm>
#include <utility>

#include "lang/c_source/lowering.h"

namespace weft::lang::c_source {

using ir::ValueId;

void Lowering::declare_constants(const std::function<bool(std::string_view)>& is_used) {
    for (const StatementPtr& constant : program_.definitions.constants) {
        const bool has_arrays =
            std::ranges::any_of(constant->names, [](const Declarator& one) { return !one.extents.empty(); });
        const bool is_mentioned =
            std::ranges::any_of(constant->names, [&](const Declarator& one) { return is_used(one.name); });
        if (!has_arrays || is_mentioned) declaration(*constant);
    }
    scopes_.end_globals();
}

void Lowering::statements(const Statement& block) {
    for (const StatementPtr& one : block.statements) {
        if (has_ended()) break;  // nothing comes here
        statement(*one);
    }
}

void Lowering::block(const Statement& statement) {
    scopes_.open();
    statements(statement);
    scopes_.close();
}

void Lowering::statement(const Statement& statement) {
    switch (statement.kind) {
        case StatementKind::kExpression: run(*statement.expression); return;
        case StatementKind::kDeclaration: declaration(statement); return;
        case StatementKind::kBlock: block(statement); return;
        case StatementKind::kIf: branch(statement); return;
        case StatementKind::kWhile:
        case StatementKind::kDo: loop(statement); return;
        case StatementKind::kFor:
            scopes_.open();
            this->statement(*statement.statements[0]);
            loop(statement);
            scopes_.close();
            return;
        case StatementKind::kBreak:
            if (loops_.size() == first_loop())
                throw OutsideSubset(statement.place, "there is no loop to leave");
            leave(loops_.size() - 1);
            return;
        case StatementKind::kContinue: {
            const bool has_loop = std::ranges::any_of(std::span(loops_).subspan(first_loop()),
                                                      [](const Loop& one) { return !one.is_switch; });
            if (!has_loop && returns_ && returns_->is_kernel) {
                return_in_place(statement);
                return;
            }
            if (!has_loop) throw OutsideSubset(statement.place, "there is no loop to go on with");
            go_on();
            return;
        }
        case StatementKind::kReturn: return_from(statement); return;
    }
}

void Lowering::declaration(const Statement& statement) {
    for (const Declarator& one : statement.names) {
        if (scopes_.find_here(one.name) != Scopes::kNone)
            throw OutsideSubset(one.place, "'" + one.name + "' is declared already");
        const bool is_auto = statement.type.name == "auto";
        TypeName named = statement.type;
        named.pointers += one.pointers;
        named.points_to_const = one.pointers != 0 && statement.is_constant;
        CType type;
        if (!is_auto) {
            type = program_.full_type(named);
        } else if (one.initial != nullptr) {
            type = shape(*one.initial);
        }
        const bool is_constant = one.pointers != 0 ? one.is_constant : statement.is_constant;
        if (one.is_reference) {
            declare_reference(one, type, statement.is_constant, is_auto);
        } else if (!one.extents.empty()) {
            if (is_auto || (statement.is_constant && one.initial == nullptr))
                throw OutsideSubset(one.place, "'" + one.name + "' needs a type and values");
            if (type.pointers != 0)
                throw OutsideSubset(one.place, "arrays of pointers are outside of the subset");
            declare_array(one, type, statement.is_constant);
        } else if (one.initial == nullptr && (is_auto || (is_constant && type.pointers == 0))) {
            throw OutsideSubset(one.place, "'" + one.name + "' needs a value");
        } else if (type.pointers != 0) {
            declare_pointer(one, type, is_constant);
        } else {
            declare_variable(one, type, statement);
        }
    }
}

void Lowering::declare_variable(const Declarator& one, const CType& type, const Statement& statement) {
    if (type.structure != nullptr) {
        std::vector<Number> leaves;
        const bool has_constructor = std::ranges::any_of(
            type.structure->functions, [](const CFunction& each) { return each.is_constructor; });
        if (one.initial != nullptr) {
            leaves = structure_value(*one.initial, *type.structure);
        } else if (has_constructor) {
            leaves = construct(*type.structure, {}, one.place).leaves;
        }
        const size_t root = declare(one.name, type, {});
        const Target target = target_of_variable(root, one.place);
        if (one.initial == nullptr && !has_constructor) {
            set_members(target, Expression{.kind = ExpressionKind::kList, .place = one.place});
        } else {
            set_leaves(target, leaves);
        }
        scopes_[root].is_constant = statement.is_constant;
        scopes_[root].why_constant = "const";
        return;
    }
    const bool is_auto = statement.type.name == "auto";
    Number number;
    if (one.initial == nullptr) {
        number = numbers_.zero(type.scalar);
    } else {
        number = value(*one.initial);
        if (!is_auto) number = numbers_.convert(number, type.scalar, one.place);
    }
    const DType dtype(number.type);
    if (one.name == kSwitchValue && !dtype.is_integer() && !dtype.is_bool())
        throw OutsideSubset(one.place, "switch takes an integer, not a " + c_name(number.type));
    std::optional<int64_t> value_known;
    if (statement.is_constant && dtype.is_integer()) value_known = known(*one.initial);
    scopes_.add({one.name, number, statement.is_constant, "const", value_known});
}

void Lowering::declare_pointer(const Declarator& one, const CType& type, bool is_constant) {
    Variable variable{.name = one.name, .value = {ScalarType::kInt64, numbers_.builder().index(0)}};
    variable.pointer.emplace();
    variable.type = type;
    const size_t index = scopes_.add(std::move(variable));
    if (one.initial != nullptr) {
        const Value value = pointer(*one.initial);
        assign_pointer(index, value, one.place);
    }
    scopes_[index].is_constant = is_constant;
}

void Lowering::declare_reference(const Declarator& one, const CType& type, bool is_constant, bool is_auto) {
    if (one.initial == nullptr || !one.extents.empty())
        throw OutsideSubset(one.place, "a reference needs what it refers to");
    std::optional<Target> of = target(*one.initial);
    const bool is_same = of && of->sizes.empty() && (is_auto || of->type == type);
    if (!is_same) {
        // To a copy, which may be read.
        if (!is_constant || type.pointers != 0)
            throw OutsideSubset(one.place, "'" + one.name + "' refers to nothing of its type");
        if (type.structure != nullptr) {
            const std::vector<Number> leaves = structure_value(*one.initial, *type.structure);
            of = temporary(*type.structure, leaves, one.place);
        } else {
            const Number given = value(*one.initial);
            scopes_.add(
                {one.name, is_auto ? given : numbers_.convert(given, type.scalar, one.place), true, "const"});
            return;
        }
    }
    if (is_constant && of->why_constant.empty()) of->why_constant = "const";
    Variable variable{.name = one.name};
    variable.alias = std::move(of);
    scopes_.add(std::move(variable));
}

std::vector<ValueId> Lowering::values_of(const std::vector<size_t>& variables) const {
    std::vector<ValueId> values;
    for (const size_t index : variables) values.push_back(scopes_[index].value.id);
    return values;
}

void Lowering::set_values(const std::vector<size_t>& variables, std::span<const ValueId> values) {
    for (size_t k = 0; k < variables.size(); ++k) scopes_[variables[k]].value.id = values[k];
}

void Lowering::branch(const Statement& statement) {
    const ValueId condition = numbers_.truth(value(*statement.expression), statement.expression->place);
    std::set<std::string> names;
    for (const StatementPtr& one : statement.statements) add_assigned(*one, program_.function_names, names);
    const std::vector<size_t> variables = scopes_.of_names(names);
    const std::vector<ValueId> before = values_of(variables);
    const auto body = [&](size_t which) {
        return [&, which](ir::Builder& inner, std::span<const ValueId>) {
            ir::Builder* const outer = &numbers_.builder();
            numbers_.use(&inner);
            set_values(variables, before);
            if (which < statement.statements.size()) {
                scopes_.open();
                this->statement(*statement.statements[which]);
                scopes_.close();
            }
            std::vector<ValueId> after = values_of(variables);
            numbers_.use(outer);
            return after;
        };
    };
    const std::vector<ValueId> results = numbers_.builder().if_else(condition, body(0), body(1));
    if (!has_ended()) set_values(variables, results);
}

void Lowering::loop(const Statement& statement) {
    std::set<std::string> names;
    if (statement.expression != nullptr) add_assigned(*statement.expression, program_.function_names, names);
    if (statement.step != nullptr) add_assigned(*statement.step, program_.function_names, names);
    add_assigned(*statement.statements.back(), program_.function_names, names);
    Loop one;
    one.carried = scopes_.of_names(names);
    one.step = statement.step.get();
    const bool is_do = statement.kind == StatementKind::kDo;
    one.is_switch = statement.is_switch;
    if (is_do && !one.is_switch) one.condition = statement.expression.get();
    const std::vector<size_t> carried = one.carried;
    const std::vector<ValueId> results = numbers_.builder().while_loop(
        values_of(carried),
        [&](ir::Builder& inner, std::span<const ValueId> values) {
            ir::Builder* const outer = &numbers_.builder();
            numbers_.use(&inner);
            set_values(carried, values);
            ValueId holds;
            if (is_do || statement.expression == nullptr) {
                holds = inner.constant(Constant::of(ScalarType::kBool, true));
            } else {
                holds = numbers_.truth(value(*statement.expression), statement.expression->place);
            }
            std::vector<ValueId> yielded{holds};
            std::ranges::copy(values_of(carried), std::back_inserter(yielded));
            numbers_.use(outer);
            return yielded;
        },
        [&](ir::Builder& inner, std::span<const ValueId> values) {
            ir::Builder* const outer = &numbers_.builder();
            numbers_.use(&inner);
            set_values(carried, values);
            loops_.push_back(one);
            scopes_.open();
            this->statement(*statement.statements.back());
            scopes_.close();
            if (!has_ended() && one.is_switch) leave(loops_.size() - 1);
            if (!has_ended()) go_on();
            loops_.pop_back();
            numbers_.use(outer);
            return std::vector<ValueId>{};
        });
    set_values(carried, results);
}

// Of the function that is lowered: those before are of what it stands in.
size_t Lowering::first_loop() const { return returns_ && returns_->is_in_place ? returns_->first_loop : 0; }

void Lowering::leave(size_t loop) {
    numbers_.builder().break_loop(values_of(loops_[loop].carried),
                                  static_cast<int>(loops_.size() - 1 - loop));
}

// The end of an iteration, from wherever in its body.
void Lowering::go_on() {
    size_t index = loops_.size() - 1;
    while (loops_[index].is_switch) --index;
    const int depth = static_cast<int>(loops_.size() - 1 - index);
    const Loop loop = loops_[index];
    const std::vector<ValueId> before = values_of(loop.carried);
    if (loop.step != nullptr) run(*loop.step);
    if (loop.condition != nullptr) {
        const ValueId holds = numbers_.truth(value(*loop.condition), loop.condition->place);
        const std::vector<ValueId> values = values_of(loop.carried);
        numbers_.builder().if_else(
            holds, [&](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>{}; },
            [&](ir::Builder& inner, std::span<const ValueId>) {
                inner.break_loop(values, depth);
                return std::vector<ValueId>{};
            });
    }
    numbers_.builder().continue_loop(values_of(loop.carried), depth);
    set_values(loop.carried, before);  // for what comes after a branch that ends so
}

void Lowering::return_from(const Statement& statement) {
    if (returns_->is_in_place) {
        return_in_place(statement);
        return;
    }
    if ((statement.expression == nullptr) != !returns_->result)
        throw OutsideSubset(statement.place,
                            returns_->result ? "the function gives a number" : "the function gives nothing");
    std::vector<ValueId> results;
    if (returns_->result)
        results.push_back(
            numbers_.convert(value(*statement.expression), *returns_->result, statement.expression->place)
                .id);
    std::ranges::copy(values_of(returns_->references), std::back_inserter(results));
    numbers_.builder().return_values(std::move(results));
}

void Lowering::return_in_place(const Statement& statement) {
    const size_t variable = returns_->variable, loop = returns_->loop;
    std::vector<ValueId> before;
    if (loop != Scopes::kNone) before = values_of(loops_[loop].carried);
    if ((statement.expression == nullptr) != (variable == Scopes::kNone))
        throw OutsideSubset(statement.place, variable == Scopes::kNone ? "the function gives nothing"
                                                                       : "the function gives something");
    if (statement.expression != nullptr) {
        const Expression& expression = *statement.expression;
        const CType& gives = returns_->gives;
        if (gives.pointers != 0) {
            const Value given = pointer(expression);
            assign_pointer(variable, given, expression.place);
        } else if (gives.structure != nullptr) {
            const std::vector<Number> leaves = structure_value(expression, *gives.structure);
            set_leaves(target_of_variable(variable, expression.place), leaves);
        } else {
            scopes_[variable].value = numbers_.convert(value(expression), gives.scalar, expression.place);
        }
    }
    if (loop == Scopes::kNone) return;
    leave(loop);
    set_values(loops_[loop].carried, before);  // for what comes after a branch that ends so
}

}  // namespace weft::lang::c_source
