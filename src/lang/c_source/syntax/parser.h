// Recursive descent over the tokens of a kernel's parts: a tree, in which nothing is known of names but which
// are those of types.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/c_source/syntax/switches.h"
#include "lang/c_source/syntax/syntax.h"

namespace weft::lang::c_source {

class Parser {
public:
    Parser(std::span<const Token> tokens, TypeNames& types) : tokens_(tokens), types_(types) {}

    Definitions definitions();
    StatementPtr statements();
    ExpressionPtr whole_expression();

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
    [[noreturn]] void unexpected(const std::string& wanted) const;
    void refuse_words() const;

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
    std::string name(const std::string& wanted);
    // A closing bracket of a template, which may be half of >>.
    void want_closing();

    // Types. `is_constant`: whether const stands with it.
    bool is_type_name(std::string_view word) const;
    void skip_namespace();
    bool is_type_here();
    TypeName type(bool* is_constant = nullptr);  // with its stars
    TypeName type_before_stars(bool* is_constant);
    int stars(bool& is_constant);
    std::vector<TypeName> template_arguments();

    // Expressions.
    static ExpressionPtr node(ExpressionKind kind, const Place& place, std::string text = {});
    ExpressionPtr expression();
    ExpressionPtr assignment();
    ExpressionPtr conditional();
    ExpressionPtr binary(int least);
    ExpressionPtr unary();
    ExpressionPtr postfix();
    void arguments(Expression& call, std::string_view closing);
    static ExpressionPtr cast_of(TypeName to, const Place& place);
    ExpressionPtr primary();
    ExpressionPtr named();
    ExpressionPtr in_brackets();

    // Statements.
    StatementPtr statement_of(StatementKind kind) const;
    bool declares();
    StatementPtr declaration();
    Declarator declarator(const TypeName& type);
    ExpressionPtr list();
    void end();
    StatementPtr block();
    StatementPtr statement();
    StatementPtr if_statement();
    StatementPtr while_statement();
    StatementPtr do_statement();
    StatementPtr leaving_statement();
    Case switch_case();
    StatementPtr switch_statement();
    StatementPtr for_statement();
    void local_type();

    // A preamble.
    void definition(Definitions& result);
    bool function_words();  // whether const is among them
    void type_alias(Definitions& result);
    std::string structure(Definitions& result, bool needs_name);
    void member(CStructure& of);
    TypeName enumeration(Definitions& result);
    void skip_static_assert();
    bool is_constructor_of(std::string_view name) const;
    std::string function_name();
    void template_parameters(CFunction& function);
    void parameters(CFunction& function);
    // What comes behind its parameters: its body, or nothing where it is defined later.
    bool rest_of_function(CFunction& function);

    std::span<const Token> tokens_;
    TypeNames& types_;
    std::map<std::string, TypeName, std::less<>> local_;  // types that statements name
    size_t at_ = 0;
    int depth_ = 0;
    bool half_ = false;  // of >> the first half is taken
};

}  // namespace weft::lang::c_source
