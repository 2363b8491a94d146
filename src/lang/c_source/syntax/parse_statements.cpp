// Statements.
#include "lang/c_source/syntax/parser.h"

namespace weft::lang::c_source {

StatementPtr Parser::statements() {
    StatementPtr block = statement_of(StatementKind::kBlock);
    while (here().kind != TokenKind::kEnd) block->statements.push_back(statement());
    return block;
}

StatementPtr Parser::statement_of(StatementKind kind) const {
    auto result = std::make_unique<Statement>();
    result->kind = kind;
    result->place = here().place;
    return result;
}

bool Parser::declares() {
    if (!is_type_here()) return false;
    const size_t before = at_;
    skip_namespace();
    if (here().is_name("const") || here().is_name("typename") || here().is_name("struct")) {
        at_ = before;
        return true;
    }
    type();
    const bool is_declaration = here().kind == TokenKind::kName || here().is("&");
    half_ = false;
    at_ = before;
    return is_declaration;
}

StatementPtr Parser::declaration() {
    StatementPtr result = statement_of(StatementKind::kDeclaration);
    while (take_name("constexpr") || take_name("static")) result->is_constant = true;
    result->type = type_before_stars(&result->is_constant);
    do {
        result->names.push_back(declarator(result->type));
    } while (take(","));
    end();
    return result;
}

Declarator Parser::declarator(const TypeName& type) {
    Declarator one;
    one.pointers = stars(one.is_constant);
    one.is_reference = take("&");
    if (here().is("&")) refuse("references to values that go away are outside of the subset");
    one.place = here().place;
    one.name = name("a variable's name");
    types_.hidden.push_back(one.name);
    while (take("[")) {
        one.extents.push_back(here().is("]") ? nullptr : assignment());
        want("]");
    }
    if (take("=")) {
        one.initial = here().is("{") ? list() : assignment();
    } else if (!one.extents.empty() && here().is("{")) {
        one.initial = list();
    } else if (here().is("(") || here().is("{")) {
        const std::string_view closing = take("(") ? ")" : "}";
        if (closing == "}") ++at_;
        TypeName of = type;
        of.pointers = one.pointers;
        ExpressionPtr made = cast_of(std::move(of), one.place);
        if (closing == "}") made->text = "{";
        arguments(*made, closing);
        if (made->operands.size() == 1 && closing == ")") {
            one.initial = std::move(made->operands[0]);
        } else {
            one.initial = std::move(made);
        }
    }
    return one;
}

// The values of an array: {1, 2}, {{1, 2}, {3, 4}}.
ExpressionPtr Parser::list() {
    const Depth depth(*this);
    ExpressionPtr result = node(ExpressionKind::kList, here().place);
    want("{");
    while (!take("}")) {
        result->operands.push_back(here().is("{") ? list() : assignment());
        if (!here().is("}")) want(",");
    }
    return result;
}

// Of a statement; what comes last needs none.
void Parser::end() {
    if (here().kind != TokenKind::kEnd) want(";");
}

StatementPtr Parser::block() {
    StatementPtr result = statement_of(StatementKind::kBlock);
    want("{");
    while (!take("}")) {
        if (here().kind == TokenKind::kEnd) unexpected("'}'");
        result->statements.push_back(statement());
    }
    return result;
}

StatementPtr Parser::statement() {
    const Depth depth(*this);
    if (here().is("{")) return block();
    if (here().is(";")) {
        StatementPtr empty = statement_of(StatementKind::kBlock);
        ++at_;
        return empty;
    }
    const std::string word = here().kind == TokenKind::kName ? here().text : std::string();
    if (word == "if") return if_statement();
    if (word == "for") return for_statement();
    if (word == "switch") return switch_statement();
    if (word == "while") return while_statement();
    if (word == "do") return do_statement();
    if (word == "break" || word == "continue" || word == "return") return leaving_statement();
    if (word == "static_assert") {
        StatementPtr empty = statement_of(StatementKind::kBlock);
        skip_static_assert();
        return empty;
    }
    refuse_words();
    if (word == "else") refuse("'else' has no 'if'");
    if (word == "typedef" || word == "using") {
        StatementPtr empty = statement_of(StatementKind::kBlock);
        local_type();
        return empty;
    }
    if (word == "struct" && (here(1).is("{") || here(2).is("{")))
        refuse("structures are defined in the preamble only");
    if (word == "constexpr" || word == "static" || declares()) return declaration();
    StatementPtr result = statement_of(StatementKind::kExpression);
    result->expression = expression();
    end();
    return result;
}

StatementPtr Parser::while_statement() {
    StatementPtr result = statement_of(StatementKind::kWhile);
    ++at_;
    result->expression = in_brackets();
    result->statements.push_back(statement());
    return result;
}

StatementPtr Parser::do_statement() {
    StatementPtr result = statement_of(StatementKind::kDo);
    ++at_;
    result->statements.push_back(statement());
    if (!take_name("while")) unexpected("'while'");
    result->expression = in_brackets();
    end();
    return result;
}

StatementPtr Parser::leaving_statement() {
    const std::string& word = here().text;
    StatementPtr result = statement_of(word == "break"      ? StatementKind::kBreak
                                       : word == "continue" ? StatementKind::kContinue
                                                            : StatementKind::kReturn);
    ++at_;
    const bool gives = !here().is(";") && here().kind != TokenKind::kEnd;
    if (result->kind == StatementKind::kReturn && gives)
        result->expression = here().is("{") ? list() : expression();
    end();
    return result;
}

void Parser::skip_static_assert() {
    ++at_;
    want("(");
    for (int open = 1; open > 0; ++at_) {
        if (here().kind == TokenKind::kEnd) unexpected("')'");
        open += here().is("(") ? 1 : here().is(")") ? -1 : 0;
    }
    end();
}

// Seen from here to the end of the text.
void Parser::local_type() {
    TypeName of;
    std::string named;
    if (take_name("using")) {
        named = name("the type's name");
        want("=");
        of = type();
    } else {
        ++at_;
        of = type();
        named = name("the type's name");
    }
    local_.insert_or_assign(named, std::move(of));
    types_.known.push_back(std::move(named));
    end();
}

StatementPtr Parser::if_statement() {
    StatementPtr result = statement_of(StatementKind::kIf);
    ++at_;
    take_name("constexpr");
    result->expression = in_brackets();
    result->statements.push_back(statement());
    if (take_name("else")) result->statements.push_back(statement());
    return result;
}

Case Parser::switch_case() {
    Case one;
    one.body = statement_of(StatementKind::kBlock);
    while (here().is_name("case") || here().is_name("default")) {
        if (take_name("default")) {
            one.is_default = true;
        } else {
            ++at_;
            one.values.push_back(conditional());
        }
        want(":");
    }
    if (one.values.empty() && !one.is_default) unexpected("'case'");
    while (!here().is_name("case") && !here().is_name("default") && !here().is("}")) {
        if (here().kind == TokenKind::kEnd) unexpected("'}'");
        one.body->statements.push_back(statement());
    }
    return one;
}

StatementPtr Parser::switch_statement() {
    const Place place = here().place;
    ++at_;
    ExpressionPtr value = in_brackets();
    want("{");
    std::vector<Case> cases;
    while (!take("}")) cases.push_back(switch_case());
    return branches_of(place, std::move(value), std::move(cases));
}

StatementPtr Parser::for_statement() {
    StatementPtr result = statement_of(StatementKind::kFor);
    ++at_;
    want("(");
    if (take(";")) {
        result->statements.push_back(statement_of(StatementKind::kBlock));
    } else if (declares()) {
        result->statements.push_back(declaration());
    } else {
        StatementPtr first = statement_of(StatementKind::kExpression);
        first->expression = expression();
        want(";");
        result->statements.push_back(std::move(first));
    }
    if (here().is(":")) refuse("loops over ranges are outside of the subset");
    if (!here().is(";")) result->expression = expression();
    want(";");
    if (!here().is(")")) result->step = expression();
    want(")");
    result->statements.push_back(statement());
    return result;
}
}  // namespace weft::lang::c_source
