// The header of an npy file is a dictionary as Python writes it.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "weft/errors.h"
#include "weft/files.h"

namespace weft {

namespace {

constexpr int kDeepest = 64;            // brackets in brackets
constexpr size_t kMostDimensions = 64;  // of an array

/// A literal of Python's.
struct Literal {
    enum class Kind { kText, kInteger, kTruth, kTuple, kList, kDictionary, kOther };
    Kind kind = Kind::kOther;
    std::string_view source = {};  // as it is written
    std::string text = {};
    int64_t number = 0;               // of an integer, or a truth value; negative where it does not fit
    std::vector<Literal> items = {};  // of a dictionary keys and values in turn
};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Literal whole() {
        Literal found = literal(0);
        skip_space();
        if (at_ != text_.size()) fail();
        return found;
    }

private:
    [[noreturn]] void fail() const { throw ValueError("Cannot parse header: '" + std::string(text_) + "'"); }

    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }
    char next() {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char wanted) {
        if (next() != wanted) return false;
        ++at_;
        return true;
    }

    Literal literal(int depth) {
        if (depth > kDeepest) fail();
        const char first = next();
        const size_t start = at_;
        Literal found;
        if (first == '(' || first == '[') {
            found = sequence(first, depth);
        } else if (first == '{') {
            found = dictionary(depth);
        } else if (first == '\'' || first == '"') {
            found = quoted();
        } else if (first == '-' || first == '+' || std::isalnum(static_cast<unsigned char>(first)) != 0) {
            found = word();
        } else {
            fail();
        }
        found.source = text_.substr(start, at_ - start);
        return found;
    }

    Literal sequence(char open, int depth) {
        const char close = open == '(' ? ')' : ']';
        Literal found{.kind = open == '(' ? Literal::Kind::kTuple : Literal::Kind::kList};
        ++at_;
        bool comma = false;
        while (!take(close)) {
            if (!found.items.empty() && !comma) fail();
            found.items.push_back(literal(depth + 1));
            comma = take(',');
        }
        if (open == '(' && found.items.size() == 1 && !comma) {  // brackets around one value
            Literal only = std::move(found.items[0]);
            return only;
        }
        return found;
    }

    Literal dictionary(int depth) {
        Literal found{.kind = Literal::Kind::kDictionary};
        ++at_;
        bool comma = true;
        while (!take('}')) {
            if (!comma) fail();
            found.items.push_back(literal(depth + 1));
            if (!take(':')) fail();
            found.items.push_back(literal(depth + 1));
            comma = take(',');
        }
        return found;
    }

    Literal quoted() {
        Literal found{.kind = Literal::Kind::kText};
        const char quote = text_[at_++];
        while (at_ < text_.size() && text_[at_] != quote) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            found.text += text_[at_++];
        }
        if (at_ == text_.size()) fail();
        ++at_;
        return found;
    }

    // True, False, None, a number; Python 2 wrote an L behind long integers.
    Literal word() {
        const size_t start = at_++;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                      text_[at_] == '_' || text_[at_] == '.'))
            ++at_;
        std::string_view said = text_.substr(start, at_ - start);
        if (said == "True" || said == "False")
            return {.kind = Literal::Kind::kTruth, .number = said == "True" ? 1 : 0};
        if (said == "None") return {};
        const bool negative = said.front() == '-';
        if (negative || said.front() == '+') said.remove_prefix(1);
        if (said.size() > 1 && said.back() == 'L') said.remove_suffix(1);
        if (said.empty() || std::isdigit(static_cast<unsigned char>(said.front())) == 0) fail();
        if (!std::all_of(said.begin(), said.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
            return {};
        Literal found{.kind = Literal::Kind::kInteger};
        for (const char digit : said)
            if (__builtin_mul_overflow(found.number, 10, &found.number) ||
                __builtin_add_overflow(found.number, digit - '0', &found.number))
                throw ValueError("a number of the header has more than 64 bits: " + std::string(said));
        if (negative) found.number = -found.number;
        return found;
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
    const Literal said = Parser(text).whole();
    if (said.kind != Literal::Kind::kDictionary)
        throw ValueError("Header is not a dictionary: " + std::string(said.source));
    std::optional<Literal> descr, order, shape;
    for (size_t k = 0; k < said.items.size(); k += 2) {
        const Literal& key = said.items[k];
        std::optional<Literal>* place = key.text == "descr"           ? &descr
                                        : key.text == "fortran_order" ? &order
                                        : key.text == "shape"         ? &shape
                                                                      : nullptr;
        if (place == nullptr || key.kind != Literal::Kind::kText)
            throw ValueError("Header does not contain the correct keys: " + std::string(key.source));
        *place = said.items[k + 1];
    }
    if (!descr || !order || !shape)
        throw ValueError("Header does not contain the correct keys: " + std::string(said.source));
    NpyHeader header;
    if (shape->kind != Literal::Kind::kTuple)
        throw ValueError("shape is not valid: " + std::string(shape->source));
    for (const Literal& extent : shape->items) {
        if ((extent.kind != Literal::Kind::kInteger && extent.kind != Literal::Kind::kTruth) ||
            extent.number < 0)
            throw ValueError("shape is not valid: " + std::string(shape->source));
        header.shape.push_back(extent.number);
    }
    if (header.shape.size() > kMostDimensions)
        throw ValueError("maximum supported dimension for an ndarray is currently 64, found " +
                         std::to_string(header.shape.size()));
    if (order->kind != Literal::Kind::kTruth)
        throw ValueError("fortran_order is not a valid bool: " + std::string(order->source));
    header.fortran_order = order->number != 0;
    header.is_text = descr->kind == Literal::Kind::kText;
    header.descr = header.is_text ? descr->text : std::string(descr->source);
    const bool is_structure = (descr->kind == Literal::Kind::kList || descr->kind == Literal::Kind::kTuple) &&
                              !descr->items.empty();
    if (!header.is_text && !is_structure)
        throw ValueError("descr is not a valid dtype descriptor: " + header.descr);
    return header;
}

DType NpyHeader::dtype() const {
    if (!is_text) throw TypeError("weft has no arrays of structures: " + descr);
    if (descr == "<V2") return ScalarType::kBFloat16;  // as it is written where NumPy knows it
    std::string_view rest = descr;
    const char order = !rest.empty() && std::strchr("<>|=", rest.front()) != nullptr ? rest.front() : '=';
    if (!rest.empty() && rest.front() == order) rest.remove_prefix(1);
    const size_t digits = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    const std::string_view unit = rest.empty() ? rest : rest.substr(digits);  // of dates: [D]
    const bool is_code = !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) == 0 &&
                         (unit.empty() || (unit.front() == '[' && unit.back() == ']'));
    if (!is_code) throw ValueError("descr is not a valid dtype descriptor: '" + descr + "'");
    const std::string_view size = rest.substr(1, digits - 1);
    try {
        const DType found = DType::parse(rest);
        if (order != '>' || found.itemsize() == 1) return found;
    } catch (const TypeError&) {
        if (std::strchr("SaUVmMOfcgG", rest.front()) == nullptr || size.size() > 9)
            throw ValueError("descr is not a valid dtype descriptor: '" + descr + "'");
    }
    throw TypeError(rest.front() == 'O' ? "weft has no arrays of Python objects"
                                        : "weft has no arrays of elements '" + descr + "'");
}

}  // namespace weft
