#include "lang/c_source/scopes.h"

namespace weft::lang::c_source {

void add_assigned(const Expression& expression, const std::set<std::string>& functions,
                  std::set<std::string>& names) {
    const bool assigns =
        expression.kind == ExpressionKind::kAssign || expression.kind == ExpressionKind::kStep;
    const bool is_call = expression.kind == ExpressionKind::kCall && functions.contains(expression.text);
    for (size_t k = 0; k < expression.operands.size(); ++k) {
        const Expression& operand = *expression.operands[k];
        if (operand.kind == ExpressionKind::kName && (is_call || (assigns && k == 0)))
            names.insert(operand.text);
        add_assigned(operand, functions, names);
    }
}

void add_assigned(const Statement& statement, const std::set<std::string>& functions,
                  std::set<std::string>& names) {
    if (statement.expression != nullptr) add_assigned(*statement.expression, functions, names);
    if (statement.step != nullptr) add_assigned(*statement.step, functions, names);
    for (const StatementPtr& inner : statement.statements) add_assigned(*inner, functions, names);
    for (const Declarator& one : statement.names) {
        if (one.initial != nullptr) add_assigned(*one.initial, functions, names);
    }
}

bool mentions(const Expression& expression, std::string_view name) {
    if (expression.kind == ExpressionKind::kName && expression.text == name) return true;
    return std::ranges::any_of(expression.operands,
                               [&](const ExpressionPtr& one) { return mentions(*one, name); });
}

bool mentions(const Statement& statement, std::string_view name) {
    const auto in = [&](const ExpressionPtr& one) { return one != nullptr && mentions(*one, name); };
    return in(statement.expression) || in(statement.step) ||
           std::ranges::any_of(statement.statements, [&](const auto& one) { return mentions(*one, name); }) ||
           std::ranges::any_of(statement.names, [&](const Declarator& one) {
               return in(one.initial) || std::ranges::any_of(one.extents, in);
           });
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
