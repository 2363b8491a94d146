#include "lang/c_source/scopes.h"

namespace weft::lang::c_source {

void add_assigned(const Expression& expression, std::set<std::string>& names) {
    const bool assigns =
        expression.kind == ExpressionKind::kAssign || expression.kind == ExpressionKind::kStep;
    if (assigns && expression.operands[0]->kind == ExpressionKind::kName)
        names.insert(expression.operands[0]->text);
    for (const ExpressionPtr& operand : expression.operands) add_assigned(*operand, names);
}

void add_assigned(const Statement& statement, std::set<std::string>& names) {
    if (statement.expression != nullptr) add_assigned(*statement.expression, names);
    if (statement.step != nullptr) add_assigned(*statement.step, names);
    for (const StatementPtr& inner : statement.statements) add_assigned(*inner, names);
    for (const Declarator& one : statement.names) {
        if (one.initial != nullptr) add_assigned(*one.initial, names);
    }
}

bool has_effects(const Expression& expression, const std::set<std::string>& functions) {
    switch (expression.kind) {
        case ExpressionKind::kAssign:
        case ExpressionKind::kStep:
        case ExpressionKind::kIndex: return true;
        case ExpressionKind::kCall:
            if (functions.contains(expression.text) || expression.text.starts_with("atomic")) return true;
            break;
        default: break;
    }
    return std::ranges::any_of(expression.operands,
                               [&](const ExpressionPtr& one) { return has_effects(*one, functions); });
}

}  // namespace weft::lang::c_source
