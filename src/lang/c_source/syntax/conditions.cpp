// Conditions of #if.
#include <cstdlib>
#include <map>
#include <string_view>

#include "lang/c_source/syntax/tokens.h"

namespace weft::lang::c_source {

namespace {

int precedence_of(const Token& token) {
    static const std::map<std::string_view, int> kPrecedences = {
        {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9}, {"<<", 8}, {">>", 8}, {"<", 7},  {">", 7},
        {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6}, {"&", 5}, {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
    const auto found = token.kind == TokenKind::kMark ? kPrecedences.find(token.text) : kPrecedences.end();
    return found == kPrecedences.end() ? 0 : found->second;
}

class Condition {
public:
    explicit Condition(std::span<const Token> tokens) : tokens_(tokens) {}

    int64_t run() {
        const int64_t result = binary(1);
        if (here().kind != TokenKind::kEnd) refuse();
        return result;
    }

private:
    [[noreturn]] void refuse() const {
        throw OutsideSubset(here().place, "this is no condition of #if in the subset");
    }
    const Token& here() const { return tokens_[at_]; }

    int64_t combined(const std::string& mark, int64_t a, int64_t b) const {
        const auto first = static_cast<uint64_t>(a), second = static_cast<uint64_t>(b);
        if ((mark == "/" || mark == "%") && (b == 0 || (a == INT64_MIN && b == -1))) refuse();
        if (mark == "*") return static_cast<int64_t>(first * second);
        if (mark == "/") return a / b;
        if (mark == "%") return a % b;
        if (mark == "+") return static_cast<int64_t>(first + second);
        if (mark == "-") return static_cast<int64_t>(first - second);
        if (mark == "<<") return static_cast<int64_t>(first << (second & 63));
        if (mark == ">>") return a >> (second & 63);
        if (mark == "<") return a < b ? 1 : 0;
        if (mark == ">") return a > b ? 1 : 0;
        if (mark == "<=") return a <= b ? 1 : 0;
        if (mark == ">=") return a >= b ? 1 : 0;
        if (mark == "==") return a == b ? 1 : 0;
        if (mark == "!=") return a != b ? 1 : 0;
        if (mark == "&") return a & b;
        if (mark == "^") return a ^ b;
        if (mark == "|") return a | b;
        if (mark == "&&") return a != 0 && b != 0 ? 1 : 0;
        return a != 0 || b != 0 ? 1 : 0;
    }

    int64_t binary(int least) {
        int64_t left = unary();
        while (precedence_of(here()) >= least) {
            const Token& mark = here();
            ++at_;
            left = combined(mark.text, left, binary(precedence_of(mark) + 1));
        }
        return left;
    }

    int64_t unary() {
        if (++depth_ > kMostDepth) refuse();
        const Token& token = here();
        if (token.kind == TokenKind::kEnd) refuse();
        ++at_;
        int64_t result = 0;
        if (token.is("!")) {
            result = unary() == 0 ? 1 : 0;
        } else if (token.is("-")) {
            result = static_cast<int64_t>(-static_cast<uint64_t>(unary()));
        } else if (token.is("+")) {
            result = unary();
        } else if (token.is("(")) {
            result = binary(1);
            if (!here().is(")")) refuse();
            ++at_;
        } else if (token.kind == TokenKind::kNumber) {
            char* end = nullptr;
            result = std::strtoll(token.text.c_str(), &end, 0);
            const std::string_view rest = end;
            if (rest.find_first_not_of("uUlL") != rest.npos) refuse();
        } else if (token.kind == TokenKind::kName) {
            result = token.text == "true" ? 1 : 0;
        } else {
            --at_;
            refuse();
        }
        --depth_;
        return result;
    }

    static constexpr int kMostDepth = 200;
    std::span<const Token> tokens_;
    size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

int64_t value_of_condition(std::span<const Token> tokens) { return Condition(tokens).run(); }

}  // namespace weft::lang::c_source
