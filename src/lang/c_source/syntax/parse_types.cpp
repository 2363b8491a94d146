// Words, names and types.
#include <array>

#include "lang/c_source/syntax/parser.h"

namespace weft::lang::c_source {

namespace {

constexpr std::array<std::string_view, 9> kWordsOfNumbers = {"unsigned", "signed", "char",   "short", "int",
                                                             "long",     "float",  "double", "bool"};

constexpr std::array<std::string_view, 21> kNamedTypes = {
    "size_t",  "ptrdiff_t", "intptr_t", "uintptr_t", "int8_t",   "int16_t", "int32_t",
    "int64_t", "uint8_t",   "uint16_t", "uint32_t",  "uint64_t", "float16", "half",
    "__half",  "bfloat16",  "void",     "auto",      "uint",     "ushort",  "uchar"};

constexpr std::array<std::string_view, 17> kRefusedWords = {
    "goto",  "class", "union", "template", "namespace",  "asm",      "__shared__",    "new", "delete",
    "throw", "try",   "case",  "volatile", "__global__", "operator", "static_assert", "enum"};

// Words behind a star that change nothing here.
constexpr std::array<std::string_view, 4> kPointerWords = {"__restrict__", "__restrict", "restrict",
                                                           "volatile"};

template <size_t size>
bool has(const std::array<std::string_view, size>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

std::string number_type(std::multiset<std::string>& words, const Place& place) {
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

}  // namespace

void Parser::unexpected(const std::string& wanted) const {
    refuse(here().kind == TokenKind::kEnd ? wanted + " is missing at the end"
                                          : wanted + " is missing before '" + here().text + "'");
}

void Parser::refuse_words() const {
    if (here().kind == TokenKind::kName && has(kRefusedWords, here().text))
        refuse("'" + here().text + "' is outside of the subset");
}

std::string Parser::name(const std::string& wanted) {
    if (here().kind != TokenKind::kName) unexpected(wanted);
    return tokens_[at_++].text;
}

void Parser::want_closing() {
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

bool Parser::is_type_name(std::string_view word) const {
    const auto is_among = [&](const std::vector<std::string>& names) {
        return std::ranges::find(names, word) != names.end();
    };
    return has(kWordsOfNumbers, word) || is_among(types_.known) ||
           ((has(kNamedTypes, word) || word == "complex") && !is_among(types_.hidden));
}

void Parser::skip_namespace() {
    const auto is_namespace = [&] {
        return here().kind == TokenKind::kName &&
               (here().text == "std" || here().text == "thrust" || here().text == "cuda" ||
                types_.namespaces.contains(here().text));
    };
    while (is_namespace() && here(1).is("::")) at_ += 2;
    if (here().is("::")) ++at_;
}

bool Parser::is_type_here() {
    const size_t before = at_;
    skip_namespace();
    const Token& token = here();
    const bool is_type =
        token.kind == TokenKind::kName && (token.text == "const" || token.text == "typename" ||
                                           token.text == "struct" || is_type_name(token.text));
    at_ = before;
    return is_type;
}

TypeName Parser::type_before_stars(bool* is_constant) {
    TypeName result;
    result.place = here().place;
    std::multiset<std::string> words;
    while (true) {
        if (take_name("const") || take_name("constexpr")) {
            if (is_constant != nullptr) *is_constant = true;
            continue;
        }
        if (take_name("typename") || take_name("register") || take_name("struct")) continue;
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
        if (const auto found = local_.find(token.text); found != local_.end()) {
            result = found->second;
            if (result.pointers != 0) refuse("names of pointer types are outside of the subset");
            ++at_;
            continue;
        }
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
    return result;
}

// `is_constant` is then whether const stands behind the last of them.
int Parser::stars(bool& is_constant) {
    int count = 0;
    while (take("*")) {
        ++count;
        is_constant = false;
        while (here().kind == TokenKind::kName &&
               (here().text == "const" || has(kPointerWords, here().text))) {
            is_constant |= here().text == "const";
            ++at_;
        }
    }
    return count;
}

TypeName Parser::type(bool* is_constant) {
    bool is_first_constant = false;
    TypeName result = type_before_stars(&is_first_constant);
    bool is_last_constant = is_first_constant;
    result.pointers = stars(is_last_constant);
    result.points_to_const = result.pointers != 0 && is_first_constant;
    if (is_constant != nullptr) *is_constant |= is_last_constant;
    return result;
}

// Behind <, up to what closes it; nothing where it was a comparison.
std::vector<TypeName> Parser::template_arguments() {
    std::vector<TypeName> result;
    const size_t before = at_;
    do {
        if (is_type_here()) {
            result.push_back(type());
        } else if (here().kind == TokenKind::kNumber || here().kind == TokenKind::kName) {
            TypeName one{.place = here().place};
            const ExpressionKind kind =
                here().kind == TokenKind::kNumber ? ExpressionKind::kNumber : ExpressionKind::kName;
            one.number = std::shared_ptr<Expression>(node(kind, here().place, here().text));
            ++at_;
            result.push_back(std::move(one));
        } else {
            break;
        }
    } while (take(","));
    if (!result.empty() && here().is(half_ ? ">>" : ">") && here(1).is("(")) {
        want_closing();
        return result;
    }
    at_ = before;
    half_ = false;
    return {};
}

}  // namespace weft::lang::c_source
