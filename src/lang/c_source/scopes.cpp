#include "lang/c_source/scopes.h"

namespace weft::lang::c_source {

size_t Scopes::leaf(size_t root, std::string_view path) const {
    const std::string name = variables_[root].name + std::string(path);
    for (size_t k = root; k <= root + variables_[root].leaves; ++k) {
        if (variables_[k].name == name) return k;
    }
    return kNone;
}

void Scopes::add_numbers(size_t root, std::string_view path, std::set<size_t>& found) const {
    const std::string name = variables_[root].name + std::string(path);
    for (size_t k = root; k <= root + variables_[root].leaves; ++k) {
        const Variable& one = variables_[k];
        const bool is_part = one.name == name || one.name.starts_with(name + ".");
        if (is_part && one.has_number()) found.insert(k);
    }
}

std::vector<size_t> Scopes::of_names(const std::set<std::string>& names) const {
    std::set<size_t> found;
    const auto add = [&](size_t index) {
        const Variable& one = variables_[index];
        if (one.has_number()) found.insert(index);
        if (one.structure != nullptr) add_numbers(index, {}, found);
        const Target* const other = one.alias                            ? &*one.alias
                                    : one.pointer && one.pointer->is_set ? &one.pointer->to
                                                                         : nullptr;
        if (other != nullptr && other->kind == Target::Kind::kVariable)
            add_numbers(other->root, other->path, found);
    };
    for (const std::string& name : names) {
        const size_t index = find(name);
        if (index != kNone) add(index);
        // It may be a member of the object whose method this is.
        if (const size_t object = find("this"); index == kNone && object != kNone) add(object);
    }
    return {found.begin(), found.end()};
}

namespace {

// A method that changes nothing, of a number or an array.
bool only_tells(const Expression& member) {
    return member.after || member.text == "real" || member.text == "imag" || member.text == "size" ||
           member.text == "shape";
}

// The name at the beginning of x.a[i], *x, &x[i].
const Expression& base_of(const Expression& expression) {
    const bool goes_on =
        expression.kind == ExpressionKind::kIndex || expression.kind == ExpressionKind::kMember ||
        expression.kind == ExpressionKind::kCast || expression.kind == ExpressionKind::kStep ||
        (expression.kind == ExpressionKind::kUnary && (expression.text == "*" || expression.text == "&")) ||
        (expression.kind == ExpressionKind::kBinary && expression.text != ",");
    return goes_on && !expression.operands.empty() ? base_of(*expression.operands[0]) : expression;
}

void add_all(const Expression& expression, std::set<std::string>& names) {
    if (expression.kind == ExpressionKind::kName) names.insert(expression.text);
    for (const ExpressionPtr& operand : expression.operands) add_all(*operand, names);
}

}  // namespace

void add_assigned(const Expression& expression, const std::set<std::string>& functions,
                  std::set<std::string>& names) {
    switch (expression.kind) {
        case ExpressionKind::kAssign:
        case ExpressionKind::kStep:
            // Of a conditional, both.
            add_all(base_of(*expression.operands[0]), names);
            break;
        case ExpressionKind::kUnary:
            if (expression.text == "&") add_all(*expression.operands[0], names);
            break;
        case ExpressionKind::kCall:
            if (!functions.contains(expression.text)) break;
            add_all(expression, names);
            names.insert("this");  // it may be a method
            break;
        case ExpressionKind::kMember:
            if (!only_tells(expression)) add_all(expression, names);
            break;
        default: break;
    }
    for (const ExpressionPtr& operand : expression.operands) add_assigned(*operand, functions, names);
}

void add_assigned(const Statement& statement, const std::set<std::string>& functions,
                  std::set<std::string>& names) {
    if (statement.expression != nullptr) add_assigned(*statement.expression, functions, names);
    if (statement.step != nullptr) add_assigned(*statement.step, functions, names);
    for (const StatementPtr& inner : statement.statements) add_assigned(*inner, functions, names);
    for (const Declarator& one : statement.names) {
        if (one.initial == nullptr) continue;
        add_assigned(*one.initial, functions, names);
        if (one.is_reference || one.pointers != 0) add_all(*one.initial, names);
    }
}

bool mentions(const Expression& expression, std::string_view name) {
    const bool has_name =
        expression.kind == ExpressionKind::kName || expression.kind == ExpressionKind::kCall;
    if (has_name && expression.text == name) return true;
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
        case ExpressionKind::kMember:
            if (!only_tells(expression)) return true;
            break;
        case ExpressionKind::kUnary:
            if (expression.text == "*") return true;
            break;
        case ExpressionKind::kCall:
            if (functions.contains(expression.text) || expression.text.starts_with("atomic")) return true;
            break;
        default: break;
    }
    return std::ranges::any_of(expression.operands,
                               [&](const ExpressionPtr& one) { return has_effects(*one, functions); });
}

}  // namespace weft::lang::c_source
