#include "lang/c_source/switches.h"

#include <algorithm>
#include <cstdlib>
#include <string>
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

// The last break of each case ends it: what is left are branches.
void end_case(Case& one, bool is_last) {
    std::vector<StatementPtr>* statements = &one.body->statements;
    while (!statements->empty() && statements->back()->kind == StatementKind::kBlock)
        statements = &statements->back()->statements;  // case 1: { ...; break; }
    const bool has_break = !statements->empty() && statements->back()->kind == StatementKind::kBreak;
    if (has_break) statements->pop_back();
    if (!has_break && !is_last && !always_ends(*one.body))
        throw OutsideSubset(one.body->place, "a case that runs on into the next is outside of the subset");
    if (leaves(*one.body))
        throw OutsideSubset(one.body->place,
                            "'break' stands at the end of a case in the subset, and nowhere else in it");
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
    for (size_t k = 0; k < cases.size(); ++k) end_case(cases[k], k + 1 == cases.size());
    StatementPtr result = statement_of(StatementKind::kBlock, place);
    StatementPtr value = statement_of(StatementKind::kDeclaration, place);
    value->type.name = "auto";
    value->type.place = place;
    const std::string name(kSwitchValue);
    Declarator declared{.name = name, .place = place};
    // Promoted, as C does it.
    ExpressionPtr promoted = node(ExpressionKind::kUnary, place, "+");
    promoted->operands.push_back(std::move(given));
    declared.initial = std::move(promoted);
    value->names.push_back(std::move(declared));
    result->statements.push_back(std::move(value));
    // From the last to the first; a default comes behind all others.
    StatementPtr rest;
    for (Case& one : cases) {
        if (one.is_default) rest = std::move(one.body);
    }
    for (size_t k = cases.size(); k-- > 0;) {
        Case& one = cases[k];
        if (one.is_default) continue;
        StatementPtr branch = statement_of(StatementKind::kIf, one.body->place);
        for (ExpressionPtr& label : one.values) {
            ExpressionPtr is_equal = node(ExpressionKind::kBinary, label->place, "==");
            is_equal->operands.push_back(node(ExpressionKind::kName, label->place, name));
            is_equal->operands.push_back(std::move(label));
            if (branch->expression != nullptr) {
                ExpressionPtr either = node(ExpressionKind::kBinary, is_equal->place, "||");
                either->operands.push_back(std::move(branch->expression));
                either->operands.push_back(std::move(is_equal));
                is_equal = std::move(either);
            }
            branch->expression = std::move(is_equal);
        }
        branch->statements.push_back(std::move(one.body));
        if (rest != nullptr) branch->statements.push_back(std::move(rest));
        rest = std::move(branch);
    }
    if (rest != nullptr) result->statements.push_back(std::move(rest));
    return result;
}

}  // namespace weft::lang::c_source
