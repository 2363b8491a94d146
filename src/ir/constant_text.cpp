#include "ir/constant_text.h"

#include <bit>
#include <charconv>
#include <limits>
#include <type_traits>

#include "core/scalar_traits.h"

namespace weft::ir {

namespace {

template <class T>
struct BitsOf;
template <>
struct BitsOf<Half> {
    using Type = uint16_t;
    static constexpr Type canonical_nan = 0x7e00;
};
template <>
struct BitsOf<BFloat16> {
    using Type = uint16_t;
    static constexpr Type canonical_nan = 0x7fc0;
};
template <>
struct BitsOf<float> {
    using Type = uint32_t;
    static constexpr Type canonical_nan = 0x7fc00000;
};
template <>
struct BitsOf<double> {
    using Type = uint64_t;
    static constexpr Type canonical_nan = 0x7ff8000000000000;
};

template <class T>
constexpr bool is_float = is_half_float<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
struct ComplexPart : std::false_type {};
template <class T>
struct ComplexPart<Complex<T>> : std::true_type {
    using Type = T;
};

template <class T>
std::string float_text(T value) {
    using Bits = typename BitsOf<T>::Type;
    char buffer[64];
    // A 16-bit float is exact as a float, and text that gives back that float gives back the 16-bit one.
    using Printed = std::conditional_t<is_half_float<T>, float, T>;
    auto printed = static_cast<Printed>(value);
    if (printed != printed) {
        Bits bits = std::bit_cast<Bits>(value);
        if (bits == BitsOf<T>::canonical_nan) return "nan";
        constexpr int digits = sizeof(Bits) * 2;
        std::string text = "0x";
        for (int i = digits - 1; i >= 0; i--) text += "0123456789abcdef"[(bits >> (4 * i)) & 15];
        return text;
    }
    if (printed == std::numeric_limits<Printed>::infinity()) return "inf";
    if (printed == -std::numeric_limits<Printed>::infinity()) return "-inf";
    std::string text(buffer, std::to_chars(buffer, buffer + sizeof(buffer), printed).ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

template <class T>
bool parse_float(std::string_view text, T& value) {
    using Bits = typename BitsOf<T>::Type;
    const char* end = text.data() + text.size();
    if (text == "nan") {
        value = std::bit_cast<T>(BitsOf<T>::canonical_nan);
        return true;
    }
    if (text.starts_with("0x")) {
        Bits bits = 0;
        auto [stop, error] = std::from_chars(text.data() + 2, end, bits, 16);
        value = std::bit_cast<T>(bits);
        return error == std::errc() && stop == end;
    }
    using Read = std::conditional_t<is_half_float<T>, float, T>;
    Read read = 0;
    auto [stop, error] = std::from_chars(text.data(), end, read);
    value = static_cast<T>(read);
    return error == std::errc() && stop == end;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

template <class T>
bool parse_value(std::string_view text, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        value = text == "true";
        return text == "true" || text == "false";
    } else if constexpr (is_float<T>) {
        return parse_float(text, value);
    } else if constexpr (ComplexPart<T>::value) {
        if (!text.starts_with('(') || !text.ends_with(')')) return false;
        text = text.substr(1, text.size() - 2);
        size_t comma = text.find(',');
        return comma != std::string_view::npos && parse_float(trim(text.substr(0, comma)), value.re) &&
               parse_float(trim(text.substr(comma + 1)), value.im);
    } else {
        auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && stop == text.data() + text.size();
    }
}

}  // namespace

std::string constant_text(const Constant& constant) {
    return visit_scalar_type(constant.type, [&](auto tag) -> std::string {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_same_v<T, bool>) {
            return constant.bytes[0] != 0 ? "true" : "false";
        } else if constexpr (is_float<T>) {
            return float_text(constant.as<T>());
        } else if constexpr (ComplexPart<T>::value) {
            T value = constant.as<T>();
            return "(" + float_text(value.re) + ", " + float_text(value.im) + ")";
        } else {
            return std::to_string(constant.as<T>());
        }
    });
}

std::optional<Constant> parse_constant(ScalarType type, std::string_view text) {
    return visit_scalar_type(type, [&](auto tag) -> std::optional<Constant> {
        using T = typename decltype(tag)::Type;
        T value{};
        if (!parse_value(text, value)) return std::nullopt;
        return Constant::of(type, value);
    });
}

}  // namespace weft::ir
