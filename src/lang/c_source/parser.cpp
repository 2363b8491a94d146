#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "lang/c_source/switches.h"
#include "lang/c_source/syntax.h"

namespace weft::lang::c_source {

namespace {

constexpr std::array<std::string_view, 9> kWordsOfNumbers = {"unsigned", "signed", "char",   "short", "int",
                                                             "long",     "float",  "double", "bool"};

constexpr std::array<std::string_view, 21> kNamedTypes = {
    "size_t",  "ptrdiff_t", "intptr_t", "uintptr_t", "int8_t",   "int16_t", "int32_t",
    "int64_t", "uint8_t",   "uint16_t", "uint32_t",  "uint64_t", "float16", "half",
    "__half",  "bfloat16",  "void",     "auto",      "uint",     "ushort",  "uchar"};

// Words that say nothing about what a function computes.
constexpr std::array<std::string_view, 11> kFunctionWords = {
    "__device__", "__host__",  "__forceinline__", "__inline__",   "__noinline__", "inline",
    "static",     "constexpr", "const",           "__constant__", "extern"};

constexpr std::array<std::string_view, 19> kRefusedWords = {
    "switch",     "goto",     "struct",     "class",         "union",  "enum",  "template",
    "namespace",  "asm",      "__shared__", "new",           "delete", "throw", "try",
    "__global__", "volatile", "operator",   "static_assert", "case"};

template <size_t size>
bool has(const std::array<std::string_view, size>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

// How tightly binary operators bind; 0: it is none.
int precedence_of(std::string_view mark) {
    static const std::map<std::string_view, int> kPrecedences = {
        {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9}, {"<<", 8}, {">>", 8}, {"<", 7},  {">", 7},
        {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6}, {"&", 5}, {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
    const auto found = kPrecedences.find(mark);
    return found == kPrecedences.end() ? 0 : found->second;
}

class Parser {
public:
    Parser(std::span<const Token> tokens, TypeNames& types) : tokens_(tokens), types_(types) {}

    Definitions definitions() {
        Definitions result;
        while (here().kind != TokenKind::kEnd) {
            if (take(";")) continue;
            definition(result);
        }
        return result;
    }

    StatementPtr statements() {
        StatementPtr block = statement_of(StatementKind::kBlock);
        while (here().kind != TokenKind::kEnd) block->statements.push_back(statement());
        return block;
    }

    ExpressionPtr whole_expression() {
        ExpressionPtr result = expression();
        if (here().kind != TokenKind::kEnd) refuse("the expression ends before this");
        return result;
    }

private:
    // Trees are walked by recursion.
    struct Depth {
        explicit Depth(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > kMostDepth) parser_.refuse("this is nested too deep");
        }
        ~Depth() { --parser_.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
        static constexpr int kMostDepth = 200;
        Parser& parser_;
    };

    [[noreturn]] void refuse(const std::string& what) const { throw OutsideSubset(here().place, what); }
    [[noreturn]] void unexpected(const std::string& wanted) const {
        refuse(here().kind == TokenKind::kEnd ? wanted + " is missing at the end"
                                              : wanted + " is missing before '" + here().text + "'");
    }

    const Token& here(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
    bool take(std::string_view mark) {
        if (!here().is(mark)) return false;
        ++at_;
        return true;
    }
    bool take_name(std::string_view name) {
        if (!here().is_name(name)) return false;
        ++at_;
        return true;
    }
    void want(std::string_view mark) {
        if (!take(mark)) unexpected("'" + std::string(mark) + "'");
    }
    std::string name(const std::string& wanted) {
        if (here().kind != TokenKind::kName) unexpected(wanted);
        return tokens_[at_++].text;
    }
    // A closing bracket of a template, which may be half of >>.
    void want_closing() {
        if (here().is(">>") && !half_) {
            half_ = true;
            return;
        }
        if (half_) {
            half_ = false;
            ++at_;
            return;
        }
        want(">");
    }

    // ---- types ----

    bool is_type_name(std::string_view word) const {
        const auto is_among = [&](const std::vector<std::string>& names) {
            return std::ranges::find(names, word) != names.end();
        };
        return has(kWordsOfNumbers, word) || is_among(types_.known) ||
               ((has(kNamedTypes, word) || word == "complex") && !is_among(types_.hidden));
    }
    void skip_namespace() {
        while ((here().is_name("std") || here().is_name("thrust") || here().is_name("cuda")) &&
               here(1).is("::"))
            at_ += 2;
        if (here().is("::")) ++at_;
    }
    bool is_type_here() {
        const size_t before = at_;
        skip_namespace();
        const Token& token = here();
        const bool is_type = token.kind == TokenKind::kName &&
                             (token.text == "const" || token.text == "typename" || is_type_name(token.text));
        at_ = before;
        return is_type;
    }

    // `is_constant`: whether const stands with it.
    TypeName type(bool* is_constant = nullptr) {
        TypeName result;
        result.place = here().place;
        std::multiset<std::string> words;
        while (true) {
            if (take_name("const") || take_name("constexpr")) {
                if (is_constant != nullptr) *is_constant = true;
                continue;
            }
            if (take_name("typename") || take_name("register")) continue;
            skip_namespace();
            const Token& token = here();
            if (token.kind != TokenKind::kName) break;
            if (has(kWordsOfNumbers, token.text) && result.name.empty()) {
                words.insert(token.text);
                ++at_;
                continue;
            }
            if (!words.empty() || !result.name.empty()) break;
            if (!is_type_name(token.text)) unexpected("a type");
            result.name = token.text;
            ++at_;
            if (result.name == "complex") {
                want("<");
                result.of = std::make_shared<TypeName>(type());
                want_closing();
            }
        }
        if (!words.empty()) result.name = number_type(words, result.place);
        if (result.name.empty()) unexpected("a type");
        if (here().is("*")) refuse("pointers are outside of the subset");
        return result;
    }

    static std::string number_type(std::multiset<std::string>& words, const Place& place) {
        const bool is_unsigned = words.erase("unsigned") != 0;
        const bool is_signed = words.erase("signed") != 0;
        const size_t longs = words.count("long");
        words.erase("long");
        if (words.size() > 1) words.erase("int");  // short int
        const std::string base = words.empty() ? (longs != 0 ? "long" : "int") : *words.begin();
        const bool is_wrong =
            words.size() > 1 || (is_unsigned && is_signed) || longs > 2 ||
            (longs != 0 && base != "long" && base != "int") ||
            ((is_unsigned || is_signed) && (base == "float" || base == "double" || base == "bool"));
        if (is_wrong) throw OutsideSubset(place, "these words are no type of the subset");
        const std::string whole = longs != 0 ? "long" : base;
        return is_unsigned ? "unsigned " + whole : is_signed && whole == "char" ? "signed char" : whole;
    }

    // ---- expressions ----

    ExpressionPtr node(ExpressionKind kind, const Place& place, std::string text = {}) const {
        auto result = std::make_unique<Expression>();
        result->kind = kind;
        result->place = place;
        result->text = std::move(text);
        return result;
    }

    ExpressionPtr expression() {
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

    ExpressionPtr assignment() {
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

    ExpressionPtr conditional() {
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

    ExpressionPtr binary(int least) {
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

    ExpressionPtr unary() {
        const Depth depth(*this);
        const Token& token = here();
        if (token.is("++") || token.is("--")) {
            ExpressionPtr result = node(ExpressionKind::kStep, token.place, token.text);
            ++at_;
            result->operands.push_back(unary());
            return result;
        }
        if (token.is("+") || token.is("-") || token.is("!") || token.is("~") || token.is("&") ||
            token.is("*")) {
            // &y[i] is what atomics take.
            if (token.is("*")) refuse("pointers are outside of the subset");
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

    ExpressionPtr postfix() {
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
            } else if (token.is(".")) {
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
            } else if (token.is("->")) {
                refuse("pointers are outside of the subset");
            } else {
                return value;
            }
        }
    }

    void arguments(Expression& call, std::string_view closing) {
        if (take(closing)) return;
        do {
            call.operands.push_back(assignment());
        } while (take(","));
        want(closing);
    }

    ExpressionPtr cast_of(TypeName to, const Place& place) {
        ExpressionPtr result = node(ExpressionKind::kCast, place);
        result->type = std::move(to);
        return result;
    }

    ExpressionPtr primary() {
        const Token& token = here();
        switch (token.kind) {
            case TokenKind::kNumber: ++at_; return node(ExpressionKind::kNumber, token.place, token.text);
            case TokenKind::kCharacter:
                ++at_;
                return node(ExpressionKind::kCharacter, token.place, token.text);
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

    ExpressionPtr named() {
        const Place place = here().place;
        if (has(kRefusedWords, here().text)) refuse("'" + here().text + "' is outside of the subset");
        if (is_type_here()) {
            TypeName to = type();
            ExpressionPtr result = cast_of(std::move(to), place);
            if (take("(")) {
                arguments(*result, ")");
            } else if (take("{")) {
                arguments(*result, "}");
            } else {
                unexpected("'('");
            }
            return result;
        }
        skip_namespace();
        const std::string text = name("a name");
        if (text == "static_cast" || text == "reinterpret_cast" || text == "const_cast" ||
            text == "dynamic_cast") {
            if (text != "static_cast") {
                --at_;
                refuse("'" + text + "' is outside of the subset");
            }
            want("<");
            ExpressionPtr result = cast_of(type(), place);
            want_closing();
            want("(");
            arguments(*result, ")");
            return result;
        }
        if (here().is("::")) refuse("namespaces are outside of the subset");
        // f<T>(x), where a comparison has no type.
        const size_t before = at_;
        std::vector<TypeName> types;
        if (take("<")) {
            while (is_type_here()) {
                types.push_back(type());
                if (!take(",")) break;
            }
            if (types.empty() || !(here().is(half_ ? ">>" : ">") && here(1).is("("))) {
                at_ = before;
                half_ = false;
                types.clear();
            } else {
                want_closing();
            }
        }
        if (!take("(")) return node(ExpressionKind::kName, place, text);
        ExpressionPtr result = node(ExpressionKind::kCall, place, text);
        result->types = std::move(types);
        arguments(*result, ")");
        return result;
    }

    // ---- statements ----

    StatementPtr statement_of(StatementKind kind) const {
        auto result = std::make_unique<Statement>();
        result->kind = kind;
        result->place = here().place;
        return result;
    }

    bool declares() {
        if (!is_type_here()) return false;
        const size_t before = at_;
        skip_namespace();
        if (here().is_name("const") || here().is_name("typename")) {
            at_ = before;
            return true;
        }
        type();
        const bool is_declaration = here().kind == TokenKind::kName || here().is("&");
        half_ = false;
        at_ = before;
        return is_declaration;
    }

    StatementPtr declaration() {
        StatementPtr result = statement_of(StatementKind::kDeclaration);
        while (take_name("constexpr") || take_name("static")) result->is_constant = true;
        result->type = type(&result->is_constant);
        if (here().is("&")) refuse("references are outside of the subset");
        do {
            Declarator one;
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
                ExpressionPtr made = cast_of(result->type, one.place);
                arguments(*made, closing);
                if (made->operands.size() == 1 && closing == ")") {
                    one.initial = std::move(made->operands[0]);
                } else {
                    one.initial = std::move(made);
                }
            }
            result->names.push_back(std::move(one));
        } while (take(","));
        end();
        return result;
    }

    // The values of an array: {1, 2}, {{1, 2}, {3, 4}}.
    ExpressionPtr list() {
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
    void end() {
        if (here().kind != TokenKind::kEnd) want(";");
    }

    StatementPtr block() {
        StatementPtr result = statement_of(StatementKind::kBlock);
        want("{");
        while (!take("}")) {
            if (here().kind == TokenKind::kEnd) unexpected("'}'");
            result->statements.push_back(statement());
        }
        return result;
    }

    ExpressionPtr in_brackets() {
        want("(");
        ExpressionPtr result = expression();
        want(")");
        return result;
    }

    StatementPtr statement() {
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
        if (word == "while") {
            StatementPtr result = statement_of(StatementKind::kWhile);
            ++at_;
            result->expression = in_brackets();
            result->statements.push_back(statement());
            return result;
        }
        if (word == "do") {
            StatementPtr result = statement_of(StatementKind::kDo);
            ++at_;
            result->statements.push_back(statement());
            if (!take_name("while")) unexpected("'while'");
            result->expression = in_brackets();
            end();
            return result;
        }
        if (word == "break" || word == "continue" || word == "return") {
            StatementPtr result = statement_of(word == "break"      ? StatementKind::kBreak
                                               : word == "continue" ? StatementKind::kContinue
                                                                    : StatementKind::kReturn);
            ++at_;
            if (word == "return" && !here().is(";") && here().kind != TokenKind::kEnd)
                result->expression = expression();
            end();
            return result;
        }
        if (has(kRefusedWords, word) || word == "else") refuse("'" + word + "' is outside of the subset");
        if (word == "typedef" || word == "using") refuse("types are named in the preamble only");
        if (word == "constexpr" || word == "static" || declares()) return declaration();
        StatementPtr result = statement_of(StatementKind::kExpression);
        result->expression = expression();
        end();
        return result;
    }

    StatementPtr if_statement() {
        StatementPtr result = statement_of(StatementKind::kIf);
        ++at_;
        take_name("constexpr");
        result->expression = in_brackets();
        result->statements.push_back(statement());
        if (take_name("else")) result->statements.push_back(statement());
        return result;
    }

    Case switch_case() {
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

    StatementPtr switch_statement() {
        const Place place = here().place;
        ++at_;
        ExpressionPtr value = in_brackets();
        want("{");
        std::vector<Case> cases;
        while (!take("}")) cases.push_back(switch_case());
        return branches_of(place, std::move(value), std::move(cases));
    }

    StatementPtr for_statement() {
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

    // ---- a preamble ----

    void definition(Definitions& result) {
        CFunction function;
        function.place = here().place;
        const size_t types_before = types_.known.size();
        if (take_name("template")) template_parameters(function);
        bool is_constant = false;
        while (here().kind == TokenKind::kName && has(kFunctionWords, here().text)) {
            is_constant |=
                here().text == "const" || here().text == "constexpr" || here().text == "__constant__";
            if (take_name("extern")) {
                if (here().kind == TokenKind::kText) ++at_;
                if (here().is("{")) refuse("blocks of extern \"C\" are outside of the subset");
                continue;
            }
            ++at_;
        }
        if (take_name("typedef")) {
            TypeName of = type();
            result.aliases.emplace_back(name("the type's name"), std::move(of));
            types_.known.push_back(result.aliases.back().first);
            want(";");
            return;
        }
        if (take_name("using")) {
            if (here().is_name("namespace")) refuse("namespaces are outside of the subset");
            std::string of = name("the type's name");
            want("=");
            result.aliases.emplace_back(of, type());
            types_.known.push_back(std::move(of));
            want(";");
            return;
        }
        if (has(kRefusedWords, here().text)) refuse("'" + here().text + "' is outside of the subset");
        const size_t before = at_;
        function.result = type(&is_constant);
        if (here().is("&")) refuse("references are outside of the subset");
        while (here().kind == TokenKind::kName && has(kFunctionWords, here().text)) ++at_;
        function.place = here().place;
        function.name = name("a name");
        if (!here().is("(")) {
            at_ = before;
            if (!is_constant)
                refuse("variables of a preamble are outside of the subset, unless they are const");
            StatementPtr constant = declaration();
            constant->is_constant = true;
            result.constants.push_back(std::move(constant));
            return;
        }
        ++at_;
        parameters(function);
        while (take_name("noexcept")) {
        }
        if (take(";")) {  // it is defined later
            types_.known.resize(types_before);
            return;
        }
        if (!here().is("{")) unexpected("'{'");
        function.body = block();
        types_.known.resize(types_before);
        result.functions.push_back(std::move(function));
    }

    void template_parameters(CFunction& function) {
        want("<");
        do {
            if (!take_name("typename") && !take_name("class"))
                refuse("a template's parameters are types in the subset");
            function.types.push_back(name("the parameter's name"));
            types_.known.push_back(function.types.back());
        } while (take(","));
        want_closing();
    }

    void parameters(CFunction& function) {
        if (take(")")) return;
        if (here().is_name("void") && here(1).is(")")) {
            at_ += 2;
            return;
        }
        do {
            CParameter one;
            one.type = type(&one.is_constant);
            if (here().is("&")) {
                one.is_reference = !one.is_constant;
                ++at_;
            }
            if (here().kind == TokenKind::kName) one.name = name("a name");
            if (here().is("[")) refuse("arrays are outside of the subset");
            if (here().is("=")) refuse("defaults are outside of the subset");
            function.parameters.push_back(std::move(one));
        } while (take(","));
        want(")");
    }

    std::span<const Token> tokens_;
    TypeNames& types_;
    size_t at_ = 0;
    int depth_ = 0;
    bool half_ = false;  // of >> the first half is taken
};

}  // namespace

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
