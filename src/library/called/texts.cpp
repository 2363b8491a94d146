// Floats of texts and texts of floats, as Python has them.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "library/called/arrays.h"
#include "library/called/functions.h"

namespace weft::called {

namespace {

// The shortest digits that are this number and no other one.
std::string repr(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::array<char, 32> buffer{};
    const auto made =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    std::string text(buffer.data(), made.ptr);
    const size_t mark = text.find('e');
    const int exponent = std::atoi(text.c_str() + mark + 1);
    if (exponent < -4 || exponent >= 16) return text;
    std::string digits = text.substr(0, mark);
    const std::string sign = digits[0] == '-' ? "-" : "";
    std::erase_if(digits, [](char c) { return c == '.' || c == '-'; });
    if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
    return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

int64_t text_of_number(EngineArguments arguments) {
    Made out(arguments.array());
    const std::string text = repr(arguments.real());
    auto* const points = reinterpret_cast<uint32_t*>(out->data);
    for (size_t i = 0; i < text.size(); ++i) points[i] = static_cast<uint8_t>(text[i]);
    out.finish();
    return static_cast<int64_t>(text.size());
}

int64_t number_of_text(EngineArguments arguments) {
    Made out(arguments.array());
    const EngineArray array = arguments.array();
    const Given given(array, array.type, /*dense=*/true);
    const auto* const points = reinterpret_cast<const uint32_t*>(given->data);
    std::string text;
    for (int64_t i = 0; i < given->shape[0]; ++i) {
        if (points[i] == 0 || points[i] > 127) return 1;
        text += static_cast<char>(points[i]);
    }
    constexpr std::string_view kSpaces = " \t\n\r\f\v\x1c\x1d\x1e\x1f";
    const size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string::npos) return 1;
    text = text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
    std::string digits;
    for (size_t i = 0; i < text.size(); ++i) {  // underscores between digits
        if (text[i] == '_' && i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]))
            continue;
        digits += text[i];
    }
    if (digits.find_first_of("xXpP(_") != std::string::npos) return 1;
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (end != digits.c_str() + digits.size()) return 1;
    std::memcpy(out->data, &value, sizeof(value));
    out.finish();
    return 0;
}

}  // namespace weft::called
