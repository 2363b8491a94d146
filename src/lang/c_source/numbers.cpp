#include "lang/c_source/numbers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numbers>
#include <optional>

#include "core/bfloat16.h"
#include "ops/op.h"
#include "weft/elements.h"

namespace weft::lang::c_source {

namespace {

using ir::ValueId;

bool is_half(ScalarType type) { return DType(type).is_half_float(); }
bool is_complex(ScalarType type) { return DType(type).is_complex(); }
bool is_floating(ScalarType type) { return DType(type).is_floating(); }
bool is_whole(ScalarType type) { return DType(type).is_integer() || DType(type).is_bool(); }

ScalarType part_of(ScalarType type) { return DType(type).real().scalar_type(); }

}  // namespace

ScalarType promoted(ScalarType type) {
    if (is_half(type)) return ScalarType::kFloat32;
    return is_whole(type) && DType(type).itemsize() < 4 ? ScalarType::kInt32 : type;
}

ScalarType common_type(ScalarType a, ScalarType b) {
    a = promoted(a);
    b = promoted(b);
    if (is_complex(a) || is_complex(b)) {
        const bool is_double = part_of(a) == ScalarType::kFloat64 || part_of(b) == ScalarType::kFloat64;
        return is_double ? ScalarType::kComplex128 : ScalarType::kComplex64;
    }
    if (is_floating(a) || is_floating(b)) {
        const bool is_double = a == ScalarType::kFloat64 || b == ScalarType::kFloat64;
        return is_double ? ScalarType::kFloat64 : ScalarType::kFloat32;
    }
    if (a == b) return a;
    if (DType(a).itemsize() != DType(b).itemsize()) return DType(a).itemsize() > DType(b).itemsize() ? a : b;
    return DType(a).is_unsigned_integer() ? a : b;
}

std::string c_name(ScalarType type) {
    switch (type) {
        case ScalarType::kBool: return "bool";
        case ScalarType::kInt8: return "signed char";
        case ScalarType::kUInt8: return "unsigned char";
        case ScalarType::kInt16: return "short";
        case ScalarType::kUInt16: return "unsigned short";
        case ScalarType::kInt32: return "int";
        case ScalarType::kUInt32: return "unsigned int";
        case ScalarType::kInt64: return "long long";
        case ScalarType::kUInt64: return "unsigned long long";
        case ScalarType::kFloat16: return "float16";
        case ScalarType::kBFloat16: return "bfloat16";
        case ScalarType::kFloat32: return "float";
        case ScalarType::kFloat64: return "double";
        case ScalarType::kComplex64: return "complex<float>";
        case ScalarType::kComplex128: return "complex<double>";
    }
    return {};
}

Number Numbers::apply(OpId op, std::initializer_list<Number> operands, ScalarType result) {
    std::vector<ValueId> ids;
    for (const Number& operand : operands) ids.push_back(operand.id);
    return {result, builder_->apply(op_info(op), ids)};
}

Number Numbers::zero(ScalarType type) {
    Constant constant;
    constant.type = type;
    return {type, builder_->constant(constant)};
}

Number Numbers::integer(ScalarType type, int64_t value) {
    const Number given{ScalarType::kInt64, builder_->index(value)};
    return {type, builder_->cast(given.id, type)};
}

Number Numbers::literal(const std::string& text, const Place& place) {
    std::string digits = text;
    std::erase(digits, '\'');
    const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    const bool is_binary = digits.starts_with("0b") || digits.starts_with("0B");
    const bool is_float =
        digits.find('.') != digits.npos || digits.find_first_of(is_hexadecimal ? "pP" : "eE") != digits.npos;
    const size_t end = digits.find_last_not_of(is_float ? (is_hexadecimal ? "lL" : "fFlL") : "uUlL") + 1;
    std::string suffix = digits.substr(end);
    std::ranges::transform(suffix, suffix.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    digits.resize(end);
    char* stopped = nullptr;
    if (is_float) {
        if (is_hexadecimal && (digits.ends_with('f') || digits.ends_with('F')) &&
            digits.find_first_of("pP") != digits.npos) {
            digits.pop_back();
            suffix = "f";
        }
        if (suffix == "f") {
            const float value = std::strtof(digits.c_str(), &stopped);
            if (*stopped != '\0') throw OutsideSubset(place, "'" + text + "' is no number");
            return {ScalarType::kFloat32, builder_->constant(Constant::of(ScalarType::kFloat32, value))};
        }
        const double value = std::strtod(digits.c_str(), &stopped);
        if (*stopped != '\0' || !suffix.empty()) throw OutsideSubset(place, "'" + text + "' is no number");
        return {ScalarType::kFloat64, builder_->constant(Constant::of(ScalarType::kFloat64, value))};
    }
    const bool is_decimal = digits == "0" || !digits.starts_with('0');
    errno = 0;
    const unsigned long long value =
        std::strtoull(digits.c_str() + (is_binary ? 2 : 0), &stopped, is_binary ? 2 : 0);
    const bool is_unsigned = suffix.find('u') != suffix.npos;
    const auto longs = std::ranges::count(suffix, 'l');
    const bool is_known = suffix.empty() || suffix == "u" || suffix == "l" || suffix == "ll" ||
                          suffix == "ul" || suffix == "lu" || suffix == "ull" || suffix == "llu";
    if (*stopped != '\0' || stopped == digits.c_str() || !is_known)
        throw OutsideSubset(place, "'" + text + "' is no number");
    if (errno == ERANGE) throw OutsideSubset(place, "'" + text + "' has more than 64 bits");
    ScalarType type = ScalarType::kInt32;
    const bool may_be_unsigned = is_unsigned || !is_decimal;
    if (longs == 0 && value <= INT_MAX && !is_unsigned) {
        type = ScalarType::kInt32;
    } else if (longs == 0 && value <= UINT_MAX && may_be_unsigned) {
        type = ScalarType::kUInt32;
    } else if (value <= LLONG_MAX && !is_unsigned) {
        type = ScalarType::kInt64;
    } else {
        if (!may_be_unsigned) throw OutsideSubset(place, "'" + text + "' fits no long long");
        type = ScalarType::kUInt64;
    }
    return {type, builder_->constant(DType(type).itemsize() == 4
                                         ? Constant::of(type, static_cast<uint32_t>(value))
                                         : Constant::of(type, static_cast<uint64_t>(value)))};
}

Number Numbers::character(const std::string& text, const Place& place) {
    static const std::map<char, char> kEscapes = {{'n', '\n'},  {'t', '\t'}, {'0', '\0'}, {'\\', '\\'},
                                                  {'\'', '\''}, {'r', '\r'}, {'a', '\a'}};
    char value = 0;
    if (text.size() == 3) {
        value = text[1];
    } else if (text.size() == 4 && text[1] == '\\' && kEscapes.contains(text[2])) {
        value = kEscapes.at(text[2]);
    } else {
        throw OutsideSubset(place, text + " is no character of the subset");
    }
    return {ScalarType::kInt8, builder_->constant(Constant::of(ScalarType::kInt8, value))};
}

Number Numbers::convert(const Number& value, ScalarType to, const Place& place) {
    if (value.type == to) return value;
    if (is_complex(value.type) && !is_complex(to))
        throw OutsideSubset(
            place, "a " + c_name(value.type) + " is no " + c_name(to) + ": take .real(), .imag() or abs()");
    return {to, builder_->cast(value.id, to)};
}

ValueId Numbers::truth(const Number& value, const Place& place) {
    return convert(value, ScalarType::kBool, place).id;
}

Number Numbers::real(const Number& value) {
    return is_complex(value.type) ? apply(OpId::kReal, {value}, part_of(value.type)) : value;
}

Number Numbers::imag(const Number& value) {
    return is_complex(value.type) ? apply(OpId::kImag, {value}, part_of(value.type)) : zero(value.type);
}

Number Numbers::complex(ScalarType type, const Number& real, const Number& imag, const Place& place) {
    const ScalarType part = part_of(type);
    return apply(OpId::kMakeComplex, {convert(real, part, place), convert(imag, part, place)}, type);
}

Number Numbers::unary(std::string_view mark, const Number& value, const Place& place) {
    if (mark == "!") {
        const Number truth_of{ScalarType::kBool, truth(value, place)};
        return op(OpId::kLogicalNot, {truth_of});
    }
    if (mark == "&") throw OutsideSubset(place, "pointers are outside of the subset");
    // A float16 stays what it is: its negative is exact.
    const bool stays = is_half(value.type) && mark != "~";
    const Number wide = stays ? value : convert(value, promoted(value.type), place);
    if (mark == "+") return wide;
    if (mark == "-") return op(OpId::kNegative, {wide});
    if (!is_whole(wide.type)) throw OutsideSubset(place, "a " + c_name(value.type) + " has no operator ~");
    return op(OpId::kInvert, {wide});
}

// Of integers, towards zero. By zero it is 0.
Number Numbers::quotient(const Number& left, const Number& right) {
    if (DType(left.type).is_unsigned_integer()) return op(OpId::kFloorDivide, {left, right});
    const Number rest = op(OpId::kFmod, {left, right});
    return op(OpId::kFloorDivide, {op(OpId::kSubtract, {left, rest}), right});
}

Number Numbers::of_complex(std::string_view mark, const Number& left, const Number& right,
                           const Place& place) {
    const ScalarType type = common_type(left.type, right.type), part = part_of(type);
    const bool both = is_complex(left.type) && is_complex(right.type);
    const auto whole = [&](const Number& value) {
        return is_complex(value.type) ? convert(value, type, place) : complex(type, value, zero(part), place);
    };
    if (mark == "==" || mark == "!=")
        return apply(mark == "==" ? OpId::kEqual : OpId::kNotEqual, {whole(left), whole(right)},
                     ScalarType::kBool);
    if (mark == "/" && !is_complex(left.type)) return op(OpId::kDivide, {whole(left), whole(right)});
    const auto parts = [&](const Number& value) {
        const Number as_type = is_complex(value.type) ? convert(value, type, place) : value;
        return std::pair(convert(real(as_type), part, place), convert(imag(as_type), part, place));
    };
    if (both) {
        const OpId id = mark == "+"   ? OpId::kAdd
                        : mark == "-" ? OpId::kSubtract
                        : mark == "*" ? OpId::kMultiply
                                      : OpId::kDivide;
        if (mark != "+" && mark != "-" && mark != "*" && mark != "/")
            throw OutsideSubset(place, "complex numbers have no operator " + std::string(mark));
        return op(id, {whole(left), whole(right)});
    }
    // A real number is no complex one with an imaginary part of 0: infinities and signs of zero differ.
    const auto [left_real, left_imag] = parts(left);
    const auto [right_real, right_imag] = parts(right);
    const auto make = [&](const Number& a, const Number& b) { return complex(type, a, b, place); };
    if (mark == "+")
        return make(op(OpId::kAdd, {left_real, right_real}), is_complex(left.type) ? left_imag : right_imag);
    if (mark == "-")
        return make(op(OpId::kSubtract, {left_real, right_real}),
                    is_complex(left.type) ? left_imag : op(OpId::kNegative, {right_imag}));
    if (mark == "*") {
        const Number& factor = is_complex(left.type) ? right_real : left_real;
        const auto& [a, b] =
            is_complex(left.type) ? std::tie(left_real, left_imag) : std::tie(right_real, right_imag);
        return make(op(OpId::kMultiply, {a, factor}), op(OpId::kMultiply, {b, factor}));
    }
    if (mark == "/")
        return make(op(OpId::kDivide, {left_real, right_real}), op(OpId::kDivide, {left_imag, right_real}));
    throw OutsideSubset(place, "complex numbers have no operator " + std::string(mark));
}

Number Numbers::arithmetic(std::string_view mark, const Number& left, const Number& right,
                           const Place& place) {
    if (mark == "+") return op(OpId::kAdd, {left, right});
    if (mark == "-") return op(OpId::kSubtract, {left, right});
    if (mark == "*") return op(OpId::kMultiply, {left, right});
    if (mark == "/") return is_whole(left.type) ? quotient(left, right) : op(OpId::kDivide, {left, right});
    if (!is_whole(left.type))
        throw OutsideSubset(place, "a " + c_name(left.type) + " has no operator " + std::string(mark));
    if (mark == "%") return op(OpId::kFmod, {left, right});
    if (mark == "&") return op(OpId::kBitwiseAnd, {left, right});
    if (mark == "|") return op(OpId::kBitwiseOr, {left, right});
    return op(OpId::kBitwiseXor, {left, right});
}

Number Numbers::binary(std::string_view mark, const Number& left, const Number& right, const Place& place) {
    if (is_complex(left.type) || is_complex(right.type)) return of_complex(mark, left, right, place);
    if (mark == "<<" || mark == ">>") {
        if (!is_whole(left.type) || !is_whole(right.type))
            throw OutsideSubset(place, "only integers are shifted");
        const ScalarType type = promoted(left.type);
        const Number value = convert(left, type, place);
        const Number count = convert(right, type, place);
        return op(mark == "<<" ? OpId::kLeftShift : OpId::kRightShift, {value, count});
    }
    const ScalarType type = common_type(left.type, right.type);
    const Number a = convert(left, type, place), b = convert(right, type, place);
    static const std::map<std::string_view, OpId> kComparisons = {
        {"<", OpId::kLess},          {">", OpId::kGreater}, {"<=", OpId::kLessEqual},
        {">=", OpId::kGreaterEqual}, {"==", OpId::kEqual},  {"!=", OpId::kNotEqual}};
    if (const auto found = kComparisons.find(mark); found != kComparisons.end())
        return apply(found->second, {a, b}, ScalarType::kBool);
    return arithmetic(mark, a, b, place);
}

}  // namespace weft::lang::c_source
