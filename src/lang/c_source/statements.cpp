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
        case StatementKind::kExpression:
            if (statement.expression->kind == ExpressionKind::kCall) {
                call(*statement.expression, true);
            } else {
                value(*statement.expression);
            }
            return;
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
            if (loops_.empty()) throw OutsideSubset(statement.place, "there is no loop to leave");
            numbers_.builder().break_loop(values_of(loops_.back().carried));
            return;
        case StatementKind::kContinue:
            if (loops_.empty())
                throw OutsideSubset(statement.place, "'continue' of a kernel is outside of the subset");
            go_on();
            return;
        case StatementKind::kReturn: return_from(statement); return;
    }
}

void Lowering::declaration(const Statement& statement) {
    for (const Declarator& one : statement.names) {
        if (scopes_.find_here(one.name) != Scopes::kNone)
            throw OutsideSubset(one.place, "'" + one.name + "' is declared already");
        const bool is_auto = statement.type.name == "auto";
        if (!one.extents.empty()) {
            if (is_auto || (statement.is_constant && one.initial == nullptr))
                throw OutsideSubset(one.place, "'" + one.name + "' needs a type and values");
            declare_array(one, program_.type(statement.type), statement.is_constant);
            continue;
        }
        if (one.initial == nullptr && (is_auto || statement.is_constant))
            throw OutsideSubset(one.place, "'" + one.name + "' needs a value");
        Number number;
        if (one.initial == nullptr) {
            number = numbers_.zero(program_.type(statement.type));
        } else {
            number = value(*one.initial);
            if (!is_auto) number = numbers_.convert(number, program_.type(statement.type), one.place);
        }
        const DType type(number.type);
        if (one.name == kSwitchValue && !type.is_integer() && !type.is_bool())
            throw OutsideSubset(one.place, "switch takes an integer, not a " + c_name(number.type));
        std::optional<int64_t> value_known;
        if (statement.is_constant && DType(number.type).is_integer()) value_known = known(*one.initial);
        scopes_.add({one.name, number, statement.is_constant, "const", value_known});
    }
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
    if (is_do) one.condition = statement.expression.get();
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
            if (!has_ended()) go_on();
            loops_.pop_back();
            numbers_.use(outer);
            return std::vector<ValueId>{};
        });
    set_values(carried, results);
}

// The end of an iteration, from wherever in its body.
void Lowering::go_on() {
    const Loop loop = loops_.back();
    const std::vector<ValueId> before = values_of(loop.carried);
    if (loop.step != nullptr) value(*loop.step);
    if (loop.condition != nullptr) {
        const ValueId holds = numbers_.truth(value(*loop.condition), loop.condition->place);
        const std::vector<ValueId> values = values_of(loop.carried);
        numbers_.builder().if_else(
            holds, [&](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>{}; },
            [&](ir::Builder& inner, std::span<const ValueId>) {
                inner.break_loop(values);
                return std::vector<ValueId>{};
            });
    }
    numbers_.builder().continue_loop(values_of(loop.carried));
    set_values(loop.carried, before);  // for what comes after a branch that ends so
}

void Lowering::return_from(const Statement& statement) {
    if (!returns_) throw OutsideSubset(statement.place, "'return' of a kernel is outside of the subset");
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

}  // namespace weft::lang::c_source
