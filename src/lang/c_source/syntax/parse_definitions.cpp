// What stands in a preamble: functions, structures, constants and names of types.
#include <array>
#include <utility>

#include "lang/c_source/syntax/parser.h"

namespace weft::lang::c_source {

namespace {

// Words that say nothing about what a function computes.
constexpr std::array<std::string_view, 12> kFunctionWords = {
    "__device__", "__host__",  "__forceinline__", "__inline__",   "__noinline__", "inline",
    "static",     "constexpr", "const",           "__constant__", "extern",       "explicit"};

bool is_function_word(const Token& token) {
    return token.kind == TokenKind::kName &&
           std::ranges::find(kFunctionWords, token.text) != kFunctionWords.end();
}

}  // namespace

Definitions Parser::definitions() {
    Definitions result;
    while (here().kind != TokenKind::kEnd) {
        if (take(";")) continue;
        definition(result);
    }
    return result;
}

bool Parser::function_words() {
    bool is_constant = false;
    while (is_function_word(here())) {
        is_constant |= here().text == "const" || here().text == "constexpr" || here().text == "__constant__";
        if (take_name("extern")) {
            if (here().kind == TokenKind::kText) ++at_;
            continue;
        }
        ++at_;
    }
    return is_constant;
}

void Parser::definition(Definitions& result) {
    if (here().is_name("extern") && here(1).kind == TokenKind::kText && here(2).is("{")) {
        at_ += 3;
        while (!take("}")) {
            if (here().kind == TokenKind::kEnd) unexpected("'}'");
            if (!take(";")) definition(result);
        }
        return;
    }
    if (here().is_name("namespace") && (here(1).is("{") || here(2).is("{"))) {
        ++at_;
        if (!here().is("{")) types_.namespaces.insert(name("a name"));
        want("{");
        while (!take("}")) {
            if (here().kind == TokenKind::kEnd) unexpected("'}'");
            if (!take(";")) definition(result);
        }
        return;
    }
    CFunction function;
    const size_t types_before = types_.known.size();
    const std::vector<std::string> hidden_before = types_.hidden;
    if (take_name("template")) template_parameters(function);
    bool is_constant = function_words();
    if (here().is_name("typedef") || here().is_name("using")) {
        type_alias(result);
        return;
    }
    if (here().is_name("static_assert")) {
        skip_static_assert();
        return;
    }
    if (here().is_name("struct") && here(1).kind == TokenKind::kName &&
        (here(2).is("{") || here(2).is(";"))) {
        if (!function.types.empty()) refuse("templates of structures are outside of the subset");
        if (here(2).is(";")) {  // it is defined later
            at_ += 2;
            return;
        }
        structure(result, true);
        want(";");
        return;
    }
    if (here().is_name("enum")) {
        enumeration(result);
        want(";");
        return;
    }
    refuse_words();
    const size_t before = at_;
    const bool begins_const = is_constant;
    function.result = type(&is_constant);
    function.result.points_to_const |= begins_const && function.result.pointers != 0;
    if (here().is("&")) refuse("functions that give references are outside of the subset");
    while (is_function_word(here())) ++at_;
    function.place = here().place;
    function.name = function_name();
    if (!here().is("(")) {
        at_ = before;
        if (!is_constant) refuse("variables of a preamble are outside of the subset, unless they are const");
        StatementPtr constant = declaration();
        constant->is_constant = true;
        result.constants.push_back(std::move(constant));
        return;
    }
    ++at_;
    parameters(function);
    const bool is_there = rest_of_function(function);
    types_.known.resize(types_before);
    types_.hidden = hidden_before;
    if (is_there) result.functions.push_back(std::move(function));
}

bool Parser::rest_of_function(CFunction& function) {
    while (take_name("noexcept") || take_name("const")) {
    }
    if (take(";")) return false;
    if (!here().is("{")) unexpected("'{'");
    function.body = block();
    return true;
}

std::string Parser::function_name() {
    if (!take_name("operator")) return name("a name");
    if (here().kind != TokenKind::kMark || here().is("(")) refuse("this operator is outside of the subset");
    std::string mark = here().text;
    ++at_;
    if (mark == "[") {
        want("]");
        mark = "[]";
    }
    return "operator" + mark;
}

void Parser::type_alias(Definitions& result) {
    if (take_name("using")) {
        if (here().is_name("namespace")) refuse("namespaces are outside of the subset");
        std::string of = name("the type's name");
        want("=");
        result.aliases.emplace_back(of, type());
        types_.known.push_back(std::move(of));
        want(";");
        return;
    }
    ++at_;
    TypeName of;
    const bool is_structure = here().is_name("struct") &&
                              (here(1).is("{") || (here(1).kind == TokenKind::kName && here(2).is("{")));
    if (is_structure) {
        of.place = here().place;
        of.name = structure(result, false);
    } else if (here().is_name("enum")) {
        of = enumeration(result);
    } else {
        of = type();
    }
    result.aliases.emplace_back(name("the type's name"), std::move(of));
    types_.known.push_back(result.aliases.back().first);
    want(";");
}

// Its values are constants, and its name is that of int.
TypeName Parser::enumeration(Definitions& result) {
    ++at_;
    TypeName integer{.name = "int", .place = here().place};
    if (here().is_name("class") || here().is_name("struct"))
        refuse("scoped enumerations are outside of the subset");
    if (here().kind == TokenKind::kName) {
        result.aliases.emplace_back(here().text, integer);
        types_.known.push_back(here().text);
        ++at_;
    }
    want("{");
    std::string before;
    while (!take("}")) {
        StatementPtr constant = statement_of(StatementKind::kDeclaration);
        constant->type = integer;
        constant->is_constant = true;
        Declarator one{.place = here().place};
        one.name = name("a name");
        if (take("=")) {
            one.initial = conditional();
        } else if (before.empty()) {
            one.initial = node(ExpressionKind::kNumber, one.place, "0");
        } else {
            one.initial = node(ExpressionKind::kBinary, one.place, "+");
            one.initial->operands.push_back(node(ExpressionKind::kName, one.place, before));
            one.initial->operands.push_back(node(ExpressionKind::kNumber, one.place, "1"));
        }
        before = one.name;
        constant->names.push_back(std::move(one));
        result.constants.push_back(std::move(constant));
        if (!here().is("}")) want(",");
    }
    return integer;
}

// Its name.
std::string Parser::structure(Definitions& result, bool needs_name) {
    ++at_;
    auto made = std::make_unique<CStructure>();
    made->place = here().place;
    if (needs_name || here().kind == TokenKind::kName) {
        made->name = name("the structure's name");
    } else {
        made->name = "structure " + std::to_string(result.structures.size());  // that nobody can name
    }
    types_.known.push_back(made->name);
    want("{");
    while (!take("}")) {
        if (here().kind == TokenKind::kEnd) unexpected("'}'");
        if (!take(";")) member(*made);
    }
    result.structures.push_back(std::move(made));
    return result.structures.back()->name;
}

void Parser::member(CStructure& of) {
    if ((here().is_name("public") || here().is_name("private")) && here(1).is(":")) {
        at_ += 2;
        return;
    }
    if (here().is_name("template")) refuse("templates in structures are outside of the subset");
    CFunction function;
    const size_t before = at_;
    while (is_function_word(here())) {
        function.is_static |= here().text == "static";
        ++at_;
    }
    function.place = here().place;
    if (here().is_name(of.name) && here(1).is("(")) {
        function.is_constructor = true;
        function.name = of.name;
        function.result.name = "void";
        at_ += 2;
        parameters(function);
        if (take(":")) {
            do {
                std::string member = name("a member");
                ExpressionPtr first = node(ExpressionKind::kCast, here().place);
                const bool is_list = here().is("{");
                if (!is_list) want("(");
                if (is_list) ++at_;
                arguments(*first, is_list ? "}" : ")");
                function.first.emplace_back(std::move(member), std::move(first));
            } while (take(","));
        }
        if (rest_of_function(function)) of.functions.push_back(std::move(function));
        return;
    }
    if (here().is("~")) refuse("destructors are outside of the subset");
    refuse_words();
    function.result = type();
    if (here().is("&")) refuse("functions that give references are outside of the subset");
    if (here().is_name("operator") || here(1).is("(")) {
        function.name = function_name();
        want("(");
        parameters(function);
        if (rest_of_function(function)) of.functions.push_back(std::move(function));
        return;
    }
    at_ = before;
    if (function.is_static) refuse("static members are outside of the subset");
    const std::vector<std::string> hidden = types_.hidden;
    of.members.push_back(declaration());
    types_.hidden = hidden;
}

void Parser::template_parameters(CFunction& function) {
    want("<");
    do {
        if (take_name("typename") || take_name("class")) {
            function.types.push_back(name("the parameter's name"));
            types_.known.push_back(function.types.back());
            continue;
        }
        if (!is_type_here()) refuse("a template's parameters are types and integers in the subset");
        type();
        function.types.push_back(name("the parameter's name"));
        function.numbers.push_back(function.types.back());
    } while (take(","));
    want_closing();
}

void Parser::parameters(CFunction& function) {
    if (take(")")) return;
    if (here().is_name("void") && here(1).is(")")) {
        at_ += 2;
        return;
    }
    do {
        CParameter one;
        one.type = type(&one.is_constant);
        if (take("&")) {
            one.is_reference = !one.is_constant;
            one.is_const_reference = one.is_constant;
            while (take_name("__restrict__")) {
            }
        }
        if (here().kind == TokenKind::kName) {
            one.name = name("a name");
            types_.hidden.push_back(one.name);
        }
        if (take("[")) {  // a pointer
            if (!here().is("]")) assignment();
            want("]");
            if (here().is("[")) refuse("arrays of several axes as parameters are outside of the subset");
            one.type.points_to_const = one.is_constant && one.type.pointers == 0;
            one.is_constant = false;
            ++one.type.pointers;
        }
        if (take("=")) one.otherwise = assignment();
        function.parameters.push_back(std::move(one));
    } while (take(","));
    want(")");
}

Definitions parse_definitions(std::span<const Token> tokens, TypeNames& types) {
    return Parser(tokens, types).definitions();
}

StatementPtr parse_statements(std::span<const Token> tokens, const TypeNames& types) {
    TypeNames known = types;
    return Parser(tokens, known).statements();
}

ExpressionPtr parse_expression(std::span<const Token> tokens, const TypeNames& types) {
    TypeNames known = types;
    return Parser(tokens, known).whole_expression();
}

}  // namespace weft::lang::c_source
