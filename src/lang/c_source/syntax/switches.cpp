#include "lang/c_source/syntax/switches.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace weft::lang::c_source {

namespace {

ExpressionPtr node(ExpressionKind kind, const Place& place, std::string text) {
    auto result = std::make_unique<Expression>();
    result->kind = kind;
    result->place = place;
    result->text = std::move(text);
    return result;
}

StatementPtr statement_of(StatementKind kind, const Place& place) {
    auto result = std::make_unique<Statement>();
    result->kind = kind;
    result->place = place;
    return result;
}

// Whether it leaves what stands around it, and not a loop of its own.
bool leaves(const Statement& statement) {
    if (statement.kind == StatementKind::kBreak) return true;
    const bool is_loop = statement.kind == StatementKind::kFor || statement.kind == StatementKind::kWhile ||
                         statement.kind == StatementKind::kDo;
    return !is_loop &&
           std::ranges::any_of(statement.statements, [](const auto& one) { return leaves(*one); });
}

bool always_ends(const Statement& statement) {
    return statement.kind == StatementKind::kReturn || statement.kind == StatementKind::kContinue ||
           (statement.kind == StatementKind::kBlock && !statement.statements.empty() &&
            always_ends(*statement.statements.back()));
}

// Takes the break that ends a case away, and says whether it is a branch then.
bool is_branch(const Case& one, bool is_last) {
    const std::vector<StatementPtr>* statements = &one.body->statements;
    while (!statements->empty() && statements->back()->kind == StatementKind::kBlock)
        statements = &statements->back()->statements;  // case 1: { ...; break; }
    const bool has_break = !statements->empty() && statements->back()->kind == StatementKind::kBreak;
    if (!has_break && !is_last && !always_ends(*one.body)) return false;
    for (size_t k = 0; k + (has_break ? 1 : 0) < statements->size(); ++k) {
        if (leaves(*(*statements)[k])) return false;
    }
    if (statements == &one.body->statements) return true;
    return std::ranges::none_of(std::span(one.body->statements).first(one.body->statements.size() - 1),
                                [](const auto& each) { return leaves(*each); });
}

void end_case(Case& one) {
    std::vector<StatementPtr>* statements = &one.body->statements;
    while (!statements->empty() && statements->back()->kind == StatementKind::kBlock)
        statements = &statements->back()->statements;
    if (!statements->empty() && statements->back()->kind == StatementKind::kBreak) statements->pop_back();
}

ExpressionPtr number(const Place& place, size_t value) {
    return node(ExpressionKind::kNumber, place, std::to_string(value));
}

ExpressionPtr binary(const Place& place, std::string mark, ExpressionPtr left, ExpressionPtr right) {
    ExpressionPtr result = node(ExpressionKind::kBinary, place, std::move(mark));
    result->operands.push_back(std::move(left));
    result->operands.push_back(std::move(right));
    return result;
}

StatementPtr variable(const Place& place, std::string_view type, std::string_view name, ExpressionPtr value) {
    StatementPtr result = statement_of(StatementKind::kDeclaration, place);
    result->type.name = type;
    result->type.place = place;
    Declarator declared{.place = place};
    declared.name = name;
    declared.initial = std::move(value);
    result->names.push_back(std::move(declared));
    return result;
}

// Whether the value is one of the labels.
ExpressionPtr is_at(Case& one) {
    ExpressionPtr result;
    for (ExpressionPtr& label : one.values) {
        const Place place = label->place;
        ExpressionPtr is_equal = binary(
            place, "==", node(ExpressionKind::kName, place, std::string(kSwitchValue)), std::move(label));
        result = result == nullptr ? std::move(is_equal)
                                   : binary(place, "||", std::move(result), std::move(is_equal));
    }
    return result;
}

// Cases that run on: a loop that runs once, and each case runs where one before it, or its own, is meant.
StatementPtr loop_of(const Place& place, std::vector<Case> cases) {
    static constexpr std::string_view kFirst = "the case of switch";  // that no program can name
    size_t otherwise = cases.size();
    for (size_t k = 0; k < cases.size(); ++k) {
        if (cases[k].is_default) otherwise = k;
    }
    ExpressionPtr first = number(place, otherwise);
    for (size_t k = cases.size(); k-- > 0;) {
        if (cases[k].values.empty()) continue;
        ExpressionPtr choice = node(ExpressionKind::kConditional, place, "?");
        choice->operands.push_back(is_at(cases[k]));
        choice->operands.push_back(number(place, k));
        choice->operands.push_back(std::move(first));
        first = std::move(choice);
    }
    StatementPtr body = statement_of(StatementKind::kBlock, place);
    body->statements.push_back(variable(place, "int", kFirst, std::move(first)));
    for (size_t k = 0; k < cases.size(); ++k) {
        StatementPtr branch = statement_of(StatementKind::kIf, cases[k].body->place);
        branch->expression =
            binary(place, "<=", node(ExpressionKind::kName, place, std::string(kFirst)), number(place, k));
        branch->statements.push_back(std::move(cases[k].body));
        body->statements.push_back(std::move(branch));
    }
    StatementPtr result = statement_of(StatementKind::kDo, place);
    result->is_switch = true;
    result->expression = node(ExpressionKind::kName, place, "false");
    result->statements.push_back(std::move(body));
    return result;
}

// Whether two labels are written the same, but for how their numbers are.
bool are_same(const Expression& a, const Expression& b) {
    if (a.kind != b.kind || a.operands.size() != b.operands.size() || a.type.name != b.type.name)
        return false;
    const bool is_number = a.kind == ExpressionKind::kNumber;
    if (is_number && std::strtoull(a.text.c_str(), nullptr, 0) != std::strtoull(b.text.c_str(), nullptr, 0))
        return false;
    if (!is_number && a.text != b.text) return false;
    return std::ranges::equal(a.operands, b.operands,
                              [](const auto& one, const auto& other) { return are_same(*one, *other); });
}

void check_labels(const std::vector<Case>& cases) {
    std::vector<const Expression*> labels;
    bool has_default = false;
    for (const Case& one : cases) {
        if (one.is_default && std::exchange(has_default, true))
            throw OutsideSubset(one.body->place, "a switch has one 'default'");
        for (const ExpressionPtr& label : one.values) {
            for (const Expression* before : labels) {
                if (are_same(*before, *label))
                    throw OutsideSubset(label->place, "a switch has each value of 'case' once");
            }
            labels.push_back(label.get());
        }
    }
}

}  // namespace

StatementPtr branches_of(const Place& place, ExpressionPtr given, std::vector<Case> cases) {
    check_labels(cases);
    bool are_branches = true;
    for (size_t k = 0; k < cases.size(); ++k)
        are_branches = are_branches && is_branch(cases[k], k + 1 == cases.size());
    StatementPtr result = statement_of(StatementKind::kBlock, place);
    // Promoted, as C does it.
    ExpressionPtr promoted = node(ExpressionKind::kUnary, place, "+");
    promoted->operands.push_back(std::move(given));
    result->statements.push_back(variable(place, "auto", kSwitchValue, std::move(promoted)));
    if (!are_branches) {
        result->statements.push_back(loop_of(place, std::move(cases)));
        return result;
    }
    // From the last to the first; a default comes behind all others.
    StatementPtr rest;
    for (Case& one : cases) {
        end_case(one);
        if (one.is_default) rest = std::move(one.body);
    }
    for (size_t k = cases.size(); k-- > 0;) {
        Case& one = cases[k];
        if (one.is_default) continue;
        StatementPtr branch = statement_of(StatementKind::kIf, one.body->place);
        branch->expression = is_at(one);
        branch->statements.push_back(std::move(one.body));
        if (rest != nullptr) branch->statements.push_back(std::move(rest));
        rest = std::move(branch);
    }
    if (rest != nullptr) result->statements.push_back(std::move(rest));
    return result;
}

}  // namespace weft::lang::c_source
