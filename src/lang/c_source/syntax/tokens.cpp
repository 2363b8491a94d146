#include "lang/c_source/syntax/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

namespace weft::lang::c_source {

namespace {

constexpr std::array<std::string_view, 26> kLongMarks = {
    "<<=", ">>=", "...", "->*", "<=>", "##", "::", "->", "++", "--", "<<", ">>", "<=",
    ">=",  "==",  "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};

// What they have is known without them.
constexpr std::array<std::string_view, 12> kKnownHeaders = {
    "cupy/complex.cuh", "cupy/carray.cuh", "cuComplex.h",      "cuda_fp16.h", "math.h",  "cmath",
    "cstdint",          "stdint.h",        "thrust/complex.h", "complex",     "float.h", "limits.h"};

constexpr size_t kMostTokens = 1'000'000;  // macros may grow without end

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_in_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Scanner {
public:
    Scanner(const SourceText& source, Macros& macros)
        : source_(source), text_(source.text), macros_(macros) {}

    std::vector<Token> run() {
        std::vector<Token> plain;
        bool begins_line = true;
        while (true) {
            begins_line = skip_space() || begins_line;
            if (at_ >= text_.size()) break;
            if (text_[at_] == '#' && begins_line) {
                // What stands before it, with the macros as they are here.
                expand_all(plain);
                plain.clear();
                directive();
                begins_line = true;
                continue;
            }
            plain.push_back(token());
            begins_line = false;
        }
        if (open_conditions_ != 0) refuse("a condition has no #endif");
        expand_all(plain);
        result_.push_back({TokenKind::kEnd, "", {&source_, text_.size()}});
        return std::move(result_);
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw OutsideSubset({&source_, std::min(at_, text_.size())}, what);
    }

    bool continues_line() const {
        return at_ + 1 < text_.size() && text_[at_] == '\\' &&
               (text_[at_ + 1] == '\n' ||
                (text_[at_ + 1] == '\r' && at_ + 2 < text_.size() && text_[at_ + 2] == '\n'));
    }

    // Whether a line ended. With `in_line` it stops before its end.
    bool skip_space(bool in_line = false) {
        bool ended = false;
        while (at_ < text_.size()) {
            if (continues_line()) {
                at_ += text_[at_ + 1] == '\n' ? 2 : 3;
            } else if (text_[at_] == '\n') {
                if (in_line) return ended;
                ended = true;
                ++at_;
            } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
                ++at_;
            } else if (text_.substr(at_, 2) == "//") {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (text_.substr(at_, 2) == "/*") {
                const size_t end = text_.find("*/", at_ + 2);
                if (end == text_.npos) refuse("the comment does not end");
                at_ = end + 2;
            } else {
                break;
            }
        }
        return ended;
    }

    Token token() {
        const size_t begin = at_;
        const char c = text_[at_];
        const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        TokenKind kind = TokenKind::kMark;
        if (begins_name(c)) {
            kind = TokenKind::kName;
            while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
        } else if (is_digit(c) || (c == '.' && is_digit(next))) {
            kind = TokenKind::kNumber;
            skip_number();
        } else if (c == '\'' || c == '"') {
            kind = c == '"' ? TokenKind::kText : TokenKind::kCharacter;
            skip_quoted(c);
        } else {
            const auto found = std::ranges::find_if(
                kLongMarks, [&](std::string_view mark) { return text_.substr(at_).starts_with(mark); });
            if (found == kLongMarks.end() &&
                std::string_view("+-*/%&|^~!<>=?:;,.()[]{}").find(c) == std::string_view::npos)
                refuse("a character that C++ does not have here");
            at_ += found == kLongMarks.end() ? 1 : found->size();
        }
        return {kind, std::string(text_.substr(begin, at_ - begin)), {&source_, begin}};
    }

    void skip_number() {
        const bool is_hexadecimal =
            text_[at_] == '0' && at_ + 1 < text_.size() && (text_[at_ + 1] == 'x' || text_[at_ + 1] == 'X');
        while (at_ < text_.size()) {
            const char c = text_[at_];
            const char before = text_[at_ == 0 ? 0 : at_ - 1];
            const bool is_sign = (c == '+' || c == '-') && (is_hexadecimal ? before == 'p' || before == 'P'
                                                                           : before == 'e' || before == 'E');
            const bool separates = c == '\'' && at_ + 1 < text_.size() && is_in_name(text_[at_ + 1]);
            if (!is_in_name(c) && c != '.' && !is_sign && !separates) break;
            ++at_;
        }
    }

    void skip_quoted(char quote) {
        ++at_;
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
            at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ >= text_.size() || text_[at_] != quote) refuse("the quotation does not end");
        ++at_;
    }

    std::vector<Token> rest_of_line() {
        std::vector<Token> tokens;
        while (true) {
            skip_space(true);
            if (at_ >= text_.size() || text_[at_] == '\n') return tokens;
            tokens.push_back(token());
        }
    }

    void directive() {
        const Place place{&source_, at_};
        ++at_;
        skip_space(true);
        const size_t begin = at_;
        while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        if (name == "define") {
            define(place);
        } else if (name == "undef") {
            const std::vector<Token> names = rest_of_line();
            if (!names.empty()) macros_.erase(names[0].text);
        } else if (name == "ifdef" || name == "ifndef") {
            condition(place, name == "ifdef");
        } else if (name == "if") {
            if_condition(place);
        } else if (name == "elif") {
            if (open_conditions_ == 0) throw OutsideSubset(place, "#elif has no #if");
            rest_of_line();
            --open_conditions_;
            skip_branch(place, false);
        } else if (name == "else" || name == "endif") {
            if (open_conditions_ == 0) throw OutsideSubset(place, "#" + std::string(name) + " has no #ifdef");
            rest_of_line();
            --open_conditions_;
            // What stands behind an #else is what the condition has left out.
            if (name == "else") skip_branch(place, false);
        } else if (name == "include") {
            include(place);
        } else if (name == "pragma") {
            const std::vector<Token> words = rest_of_line();  // what may be done, and changes no result
            if (words.empty() || (!words[0].is_name("unroll") && !words[0].is_name("once")))
                throw OutsideSubset(place, "this #pragma is not known");
        } else if (!name.empty() || !rest_of_line().empty()) {
            throw OutsideSubset(place, "#" + std::string(name) + " is outside of the subset");
        }
    }

    void condition(const Place& place, bool wants_it) {
        const std::vector<Token> names = rest_of_line();
        if (names.size() != 1 || names[0].kind != TokenKind::kName)
            throw OutsideSubset(place, "the condition has no name");
        if (names[0].text.starts_with("__"))
            throw OutsideSubset(names[0].place, "what " + names[0].text + " is, is outside of the subset");
        if (macros_.contains(names[0].text) == wants_it) {
            ++open_conditions_;
        } else {
            skip_branch(place, true);
        }
    }

    // #if and #elif.
    void if_condition(const Place& place) {
        std::vector<Token> given = rest_of_line(), known;
        for (size_t k = 0; k < given.size(); ++k) {
            if (!given[k].is_name("defined")) {
                known.push_back(given[k]);
                continue;
            }
            const bool has_bracket = k + 1 < given.size() && given[k + 1].is("(");
            k += has_bracket ? 2 : 1;
            if (k >= given.size()) throw OutsideSubset(place, "'defined' has no name");
            refuse_own(given[k]);
            known.push_back(
                {TokenKind::kNumber, macros_.contains(given[k].text) ? "1" : "0", given[k].place});
            if (has_bracket) ++k;
        }
        std::vector<Token> tokens;
        std::set<std::string> within;
        expand(known, within, tokens);
        for (const Token& one : tokens) refuse_own(one);
        tokens.push_back({TokenKind::kEnd, "", place});
        if (value_of_condition(tokens) != 0) {
            ++open_conditions_;
        } else {
            skip_branch(place, true);
        }
    }

    // What the compiler defines itself.
    static void refuse_own(const Token& name) {
        if (name.kind == TokenKind::kName && name.text.starts_with("__"))
            throw OutsideSubset(name.place, "what " + name.text + " is, is outside of the subset");
    }

    // To its #endif, or to an #else of its own.
    void skip_branch(const Place& place, bool stops_at_else) {
        int depth = 0;
        while (at_ < text_.size()) {
            const size_t end = std::min(text_.find('\n', at_), text_.size());
            std::string_view line = text_.substr(at_, end - at_);
            at_ = std::min(end + 1, text_.size());
            line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
            if (!line.starts_with('#')) continue;
            line.remove_prefix(1);
            line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
            if (line.starts_with("if")) ++depth;
            if (line.starts_with("else") && depth == 0 && stops_at_else) {
                ++open_conditions_;
                return;
            }
            if (line.starts_with("elif") && depth == 0 && stops_at_else) {
                at_ = static_cast<size_t>(line.data() - text_.data()) + 4;
                if_condition(place);
                return;
            }
            if (line.starts_with("endif") && depth-- == 0) return;
        }
        throw OutsideSubset(place, "the condition has no #endif");
    }

    void include(const Place& place) {
        const size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view header = text_.substr(at_, end - at_);
        at_ = end;
        const size_t open = header.find_first_of("<\""), close = header.find_last_of(">\"");
        if (open == header.npos || close <= open) throw OutsideSubset(place, "#include names no header");
        header = header.substr(open + 1, close - open - 1);
        if (std::ranges::find(kKnownHeaders, header) == kKnownHeaders.end())
            throw OutsideSubset(place, "the header " + std::string(header) + " is outside of the subset");
    }

    void define(const Place& place) {
        skip_space(true);
        if (at_ >= text_.size() || !begins_name(text_[at_]))
            throw OutsideSubset(place, "#define has no name");
        const std::string name = token().text;
        Macro macro;
        if (at_ < text_.size() && text_[at_] == '(') {
            macro.takes_arguments = true;
            ++at_;
            while (true) {
                skip_space(true);
                if (at_ >= text_.size() || text_[at_] == '\n')
                    throw OutsideSubset(place, "the parameters of the macro do not end");
                const Token one = token();
                if (one.is(")")) break;
                if (one.kind == TokenKind::kName) {
                    macro.parameters.push_back(one.text);
                } else if (!one.is(",")) {
                    throw OutsideSubset(one.place, "this is no parameter of a macro");
                }
            }
        }
        macro.body = rest_of_line();
        macros_.insert_or_assign(name, std::move(macro));
    }

    void expand_all(const std::vector<Token>& tokens) {
        std::set<std::string> within;
        expand(tokens, within, result_);
    }

    // `within` are macros that are being put in: not again in themselves.
    void expand(const std::vector<Token>& tokens, std::set<std::string>& within, std::vector<Token>& into) {
        for (size_t k = 0; k < tokens.size(); ++k) {
            if (into.size() > kMostTokens) throw OutsideSubset(tokens[k].place, "the macros grow too large");
            const auto found =
                tokens[k].kind == TokenKind::kName ? macros_.find(tokens[k].text) : macros_.end();
            const bool is_called = k + 1 < tokens.size() && tokens[k + 1].is("(");
            if (found == macros_.end() || within.contains(tokens[k].text) ||
                (found->second.takes_arguments && !is_called)) {
                into.push_back(tokens[k]);
                continue;
            }
            const Macro& macro = found->second;
            std::map<std::string, std::vector<Token>> arguments;
            const Place place = tokens[k].place;
            std::map<std::string, std::vector<Token>> as_written;  // what ## takes
            if (macro.takes_arguments) k = read_arguments(tokens, k, macro, within, arguments, as_written);
            std::vector<Token> body;
            for (size_t j = 0; j < macro.body.size(); ++j) {
                const Token& one = macro.body[j];
                const bool is_pasted = (j + 1 < macro.body.size() && macro.body[j + 1].is("##")) ||
                                       (j > 0 && macro.body[j - 1].is("##"));
                const auto& given = is_pasted ? as_written : arguments;
                const auto argument = one.kind == TokenKind::kName ? given.find(one.text) : given.end();
                if (argument == given.end()) {
                    body.push_back({one.kind, one.text, place});
                } else {
                    body.insert(body.end(), argument->second.begin(), argument->second.end());
                }
            }
            paste(body);
            within.insert(found->first);
            const std::string name = found->first;
            expand(body, within, into);
            within.erase(name);
        }
    }

    static void paste(std::vector<Token>& body) {
        for (size_t k = 1; k + 1 < body.size();) {
            if (!body[k].is("##")) {
                ++k;
                continue;
            }
            if (body[k - 1].kind != TokenKind::kName ||
                (body[k + 1].kind != TokenKind::kName && body[k + 1].kind != TokenKind::kNumber))
                throw OutsideSubset(body[k].place, "## makes names alone in the subset");
            body[k - 1].text += body[k + 1].text;
            body.erase(body.begin() + static_cast<ptrdiff_t>(k),
                       body.begin() + static_cast<ptrdiff_t>(k) + 2);
        }
    }

    // The place of the closing bracket.
    size_t read_arguments(const std::vector<Token>& tokens, size_t at, const Macro& macro,
                          std::set<std::string>& within, std::map<std::string, std::vector<Token>>& arguments,
                          std::map<std::string, std::vector<Token>>& as_written) {
        std::vector<std::vector<Token>> given(1);
        int depth = 0;
        size_t k = at + 1;
        for (;; ++k) {
            if (k >= tokens.size()) throw OutsideSubset(tokens[at].place, "the macro's arguments do not end");
            if (tokens[k].is("(") && depth++ == 0) continue;
            if (tokens[k].is(")") && --depth == 0) break;
            if (tokens[k].is(",") && depth == 1) {
                given.emplace_back();
            } else {
                given.back().push_back(tokens[k]);
            }
        }
        if (macro.parameters.empty() && given.size() == 1 && given[0].empty()) given.clear();
        if (given.size() != macro.parameters.size())
            throw OutsideSubset(tokens[at].place, "the macro " + tokens[at].text + " takes " +
                                                      std::to_string(macro.parameters.size()) +
                                                      " arguments, not " + std::to_string(given.size()));
        for (size_t j = 0; j < given.size(); ++j) {
            expand(given[j], within, arguments[macro.parameters[j]]);
            as_written[macro.parameters[j]] = std::move(given[j]);
        }
        return k;
    }

    const SourceText& source_;
    std::string_view text_;
    Macros& macros_;
    size_t at_ = 0;
    int open_conditions_ = 0;
    std::vector<Token> result_;
};

}  // namespace

std::string place_in_text(std::string_view array, const Place& place) {
    const std::string& text = place.source->text;
    const auto end = text.begin() + static_cast<ptrdiff_t>(std::min(place.offset, text.size()));
    return "'" + std::string(array) + "', in " + place.source->title + ", line " +
           std::to_string(1 + std::count(text.begin(), end, '\n'));
}

OutsideSubset::OutsideSubset(const Place& place, const std::string& what)
    : CompileError([&] {
          const std::string& text = place.source->text;
          const size_t offset = std::min(place.offset, text.size());
          const size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;  // npos + 1 is 0
          const size_t end = std::min(text.find('\n', offset), text.size());
          const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(begin), '\n');
          std::string gap = text.substr(begin, offset - begin);
          std::ranges::replace_if(gap, [](char c) { return c != '\t'; }, ' ');
          return place.source->title + ", line " + std::to_string(line) + ": " + what + "\n    " +
                 text.substr(begin, end - begin) + "\n    " + gap + "^";
      }()) {
    const std::string_view message = this->what();
    reason_ = std::string(message.substr(0, message.find('\n')));
}

std::vector<Token> tokenise(const SourceText& source, Macros& macros) {
    return Scanner(source, macros).run();
}

}  // namespace weft::lang::c_source
