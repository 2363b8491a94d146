// Tokens of C++ source, after the preprocessor: constants and macros that #define makes are put in.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lang/c_source/syntax/source.h"

namespace weft::lang::c_source {

enum class TokenKind : uint8_t { kName, kNumber, kCharacter, kText, kMark, kEnd };

struct Token {
    TokenKind kind = TokenKind::kEnd;
    std::string text{};
    Place place{};

    bool is(std::string_view mark) const { return kind == TokenKind::kMark && text == mark; }
    bool is_name(std::string_view name) const { return kind == TokenKind::kName && text == name; }
};

struct Macro {
    bool takes_arguments = false;
    std::vector<std::string> parameters{};
    std::vector<Token> body{};
};
using Macros = std::map<std::string, Macro, std::less<>>;

// The last token is kEnd. `macros` has those of texts before, and gets those of this one. The source has to
// live as long as the tokens. Throws OutsideSubset.
std::vector<Token> tokenise(const SourceText& source, Macros& macros);

// Of #if, without `defined`: integers and C's operators. A name that is no macro is 0. The last token is
// kEnd.
int64_t value_of_condition(std::span<const Token> tokens);

}  // namespace weft::lang::c_source
