// Expressions.
#include <map>

#include "lang/c_source/syntax/parser.h"

namespace weft::lang::c_source {

namespace {

// How tightly binary operators bind; 0: it is none.
int precedence_of(std::string_view mark) {
    static const std::map<std::string_view, int> kPrecedences = {
        {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9}, {"<<", 8}, {">>", 8}, {"<", 7},  {">", 7},
        {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6}, {"&", 5}, {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
    const auto found = kPrecedences.find(mark);
    return found == kPrecedences.end() ? 0 : found->second;
}

}  // namespace

ExpressionPtr Parser::whole_expression() {
    ExpressionPtr result = expression();
    if (here().kind != TokenKind::kEnd) refuse("the expression ends before this");
    return result;
}

ExpressionPtr Parser::node(ExpressionKind kind, const Place& place, std::string text) {
    auto result = std::make_unique<Expression>();
    result->kind = kind;
    result->place = place;
    result->text = std::move(text);
    return result;
}

ExpressionPtr Parser::expression() {
    ExpressionPtr left = assignment();
    while (here().is(",")) {
        ExpressionPtr both = node(ExpressionKind::kBinary, here().place, ",");
        ++at_;
        both->operands.push_back(std::move(left));
        both->operands.push_back(assignment());
        left = std::move(both);
    }
    return left;
}

ExpressionPtr Parser::assignment() {
    const Depth depth(*this);
    ExpressionPtr left = conditional();
    static const std::set<std::string_view> kAssignments = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    if (here().kind != TokenKind::kMark || !kAssignments.contains(here().text)) return left;
    const std::string mark = here().text;
    ExpressionPtr result =
        node(ExpressionKind::kAssign, here().place, mark == "=" ? mark : mark.substr(0, mark.size() - 1));
    ++at_;
    result->operands.push_back(std::move(left));
    result->operands.push_back(assignment());
    return result;
}

ExpressionPtr Parser::conditional() {
    ExpressionPtr condition = binary(1);
    if (!here().is("?")) return condition;
    ExpressionPtr result = node(ExpressionKind::kConditional, here().place, "?");
    ++at_;
    result->operands.push_back(std::move(condition));
    result->operands.push_back(expression());
    want(":");
    result->operands.push_back(assignment());
    return result;
}

ExpressionPtr Parser::binary(int least) {
    ExpressionPtr left = unary();
    while (true) {
        const Token& token = here();
        const int precedence = token.kind == TokenKind::kMark ? precedence_of(token.text) : 0;
        if (precedence < least || precedence == 0) return left;
        ExpressionPtr result = node(ExpressionKind::kBinary, token.place, token.text);
        ++at_;
        result->operands.push_back(std::move(left));
        result->operands.push_back(binary(precedence + 1));
        left = std::move(result);
    }
}

ExpressionPtr Parser::unary() {
    const Depth depth(*this);
    const Token& token = here();
    if (token.is("++") || token.is("--")) {
        ExpressionPtr result = node(ExpressionKind::kStep, token.place, token.text);
        ++at_;
        result->operands.push_back(unary());
        return result;
    }
    if (token.is("+") || token.is("-") || token.is("!") || token.is("~") || token.is("&") || token.is("*")) {
        ExpressionPtr result = node(ExpressionKind::kUnary, token.place, token.text);
        ++at_;
        result->operands.push_back(unary());
        return result;
    }
    if (token.is_name("sizeof")) {
        ExpressionPtr result = node(ExpressionKind::kSizeOf, token.place);
        ++at_;
        want("(");
        if (is_type_here()) {
            result->type = type();
        } else {
            result->operands.push_back(expression());
        }
        want(")");
        return result;
    }
    if (token.is("(")) {
        const size_t before = at_;
        ++at_;
        if (is_type_here()) {
            const Place place = token.place;
            TypeName to = type();
            if (take(")")) {
                // (T)x, or T as a name in brackets, which is none of the subset's.
                ExpressionPtr result = node(ExpressionKind::kCast, place);
                result->type = std::move(to);
                result->operands.push_back(unary());
                return result;
            }
        }
        at_ = before;
    }
    return postfix();
}

ExpressionPtr Parser::postfix() {
    ExpressionPtr value = primary();
    while (true) {
        const Token& token = here();
        if (token.is("[")) {
            ExpressionPtr result = node(ExpressionKind::kIndex, token.place);
            ++at_;
            result->operands.push_back(std::move(value));
            result->operands.push_back(expression());
            want("]");
            value = std::move(result);
        } else if (token.is(".") || token.is("->")) {
            if (token.is("->")) {  // (*value).
                ExpressionPtr object = node(ExpressionKind::kUnary, token.place, "*");
                object->operands.push_back(std::move(value));
                value = std::move(object);
            }
            ++at_;
            ExpressionPtr result = node(ExpressionKind::kMember, here().place, name("the member's name"));
            result->operands.push_back(std::move(value));
            if (take("(")) {
                arguments(*result, ")");
            } else {
                result->after = true;  // no call
            }
            value = std::move(result);
        } else if (token.is("++") || token.is("--")) {
            ExpressionPtr result = node(ExpressionKind::kStep, token.place, token.text);
            ++at_;
            result->after = true;
            result->operands.push_back(std::move(value));
            value = std::move(result);
        } else {
            return value;
        }
    }
}

void Parser::arguments(Expression& call, std::string_view closing) {
    if (take(closing)) return;
    do {
        call.operands.push_back(assignment());
    } while (take(","));
    want(closing);
}

ExpressionPtr Parser::cast_of(TypeName to, const Place& place) {
    ExpressionPtr result = node(ExpressionKind::kCast, place);
    result->type = std::move(to);
    return result;
}

ExpressionPtr Parser::primary() {
    const Token& token = here();
    switch (token.kind) {
        case TokenKind::kNumber: ++at_; return node(ExpressionKind::kNumber, token.place, token.text);
        case TokenKind::kCharacter: ++at_; return node(ExpressionKind::kCharacter, token.place, token.text);
        case TokenKind::kText: refuse("texts are outside of the subset");
        case TokenKind::kEnd: unexpected("an expression");
        case TokenKind::kMark: break;
        case TokenKind::kName: return named();
    }
    if (token.is("[")) refuse("lambdas are outside of the subset");
    if (!token.is("(")) unexpected("an expression");
    ++at_;
    ExpressionPtr inside = expression();
    want(")");
    return inside;
}

ExpressionPtr Parser::named() {
    const Place place = here().place;
    refuse_words();
    if (here().text == "switch") refuse("'switch' is no expression");
    if (is_type_here()) {
        TypeName to = type();
        ExpressionPtr result = cast_of(std::move(to), place);
        if (take("(")) {
            arguments(*result, ")");
        } else if (take("{")) {
            result->text = "{";
            arguments(*result, "}");
        } else {
            unexpected("'('");
        }
        return result;
    }
    skip_namespace();
    const std::string text = name("a name");
    if (text == "dynamic_cast") {
        --at_;
        refuse("'dynamic_cast' is outside of the subset");
    }
    if (text == "static_cast" || text == "reinterpret_cast" || text == "const_cast") {
        want("<");
        ExpressionPtr result = cast_of(type(), place);
        want_closing();
        want("(");
        arguments(*result, ")");
        return result;
    }
    if (text == "numeric_limits" && take("<")) {
        std::vector<TypeName> of{type()};
        want_closing();
        want("::");
        ExpressionPtr result = node(ExpressionKind::kCall, place, text + "::" + name("what limit"));
        result->types = std::move(of);
        want("(");
        want(")");
        return result;
    }
    if (here().is("::")) refuse("this namespace is not known");
    // f<T>(x), where a comparison has no type.
    const size_t before = at_;
    std::vector<TypeName> types;
    if (take("<")) {
        types = template_arguments();
        if (types.empty()) at_ = before;
    }
    if (!take("(")) return node(ExpressionKind::kName, place, text);
    ExpressionPtr result = node(ExpressionKind::kCall, place, text);
    result->types = std::move(types);
    arguments(*result, ")");
    return result;
}

ExpressionPtr Parser::in_brackets() {
    want("(");
    ExpressionPtr result = expression();
    want(")");
    return result;
}
}  // namespace weft::lang::c_source
