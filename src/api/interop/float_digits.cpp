#include "api/interop/float_digits.h"

#include <array>
#include <cmath>
#include <cstdlib>

#include "core/scalar_traits.h"
#include "weft/errors.h"

namespace weft {

namespace {

FloatParts with_sign(double value, FloatParts parts) {
    if (std::signbit(value)) parts.whole.insert(0, "-");
    return parts;
}

// What is before the mark, and behind it.
std::pair<std::string, std::string> parted(const std::string& text, char mark) {
    const size_t place = std::min(text.find(mark), text.size());
    return {text.substr(0, place), place < text.size() ? text.substr(place + 1) : std::string()};
}

}  // namespace

std::string printed(double value, std::chars_format form, int precision) {
    if (precision > kMostCharacters) throw_too_large();
    constexpr int kWhole = 330;  // more than the characters but for the digits behind the point
    const auto write = [&](char* first, char* last) {
        return static_cast<size_t>(std::to_chars(first, last, value, form, precision).ptr - first);
    };
    std::array<char, 512> few;
    if (precision + kWhole <= static_cast<int>(few.size()))
        return {few.data(), write(few.data(), few.data() + few.size())};
    std::string many(static_cast<size_t>(precision + kWhole), '\0');
    many.resize(write(many.data(), many.data() + many.size()));
    return many;
}

void throw_too_large() { throw RuntimeError("Float formatting result too large"); }

std::string exponent_text(int exponent, size_t width) {
    std::string digits = std::to_string(std::abs(exponent));
    if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
    return (exponent < 0 ? "-" : "+") + digits;
}

void drop_zeros(std::string& digits) { digits.erase(digits.find_last_not_of('0') + 1); }

double FloatDigits::rounded(double value) const {
    switch (type_) {
        case ScalarType::kFloat16: return static_cast<double>(static_cast<Half>(value));
        case ScalarType::kBFloat16: return static_cast<double>(static_cast<BFloat16>(value));
        case ScalarType::kFloat32: return static_cast<double>(static_cast<float>(value));
        default: return value;
    }
}

double FloatDigits::large_in_arrays() const { return type_ == ScalarType::kFloat64 ? 1e8 : large_alone(); }

double FloatDigits::large_alone() const {
    switch (type_) {
        case ScalarType::kFloat16:
        case ScalarType::kBFloat16: return 1e3;
        case ScalarType::kFloat32: return 1e6;
        default: return 1e16;
    }
}

Decimal FloatDigits::shortest(double value) const {
    const double magnitude = std::abs(value);
    char text[64];
    const char* end = text;
    const auto scientific = std::chars_format::scientific;
    if (type_ == ScalarType::kFloat16 || type_ == ScalarType::kBFloat16) {
        for (int digits = 0; digits < 6; ++digits) {
            end = std::to_chars(text, text + sizeof text, magnitude, scientific, digits).ptr;
            double read = 0;
            std::from_chars(text, end, read);
            if (rounded(read) == magnitude) break;
        }
    } else if (type_ == ScalarType::kFloat32) {
        end = std::to_chars(text, text + sizeof text, static_cast<float>(magnitude), scientific).ptr;
    } else {
        end = std::to_chars(text, text + sizeof text, magnitude, scientific).ptr;
    }
    const auto [mantissa, exponent] = parted(std::string(static_cast<const char*>(text), end), 'e');
    Decimal decimal{mantissa.substr(0, 1), std::stoi(exponent)};
    if (mantissa.size() > 2) decimal.digits += mantissa.substr(2);
    drop_zeros(decimal.digits);
    if (decimal.digits.empty()) decimal.digits = "0";
    return decimal;
}

FloatParts FloatDigits::positional(double value, std::optional<int> precision) const {
    auto [digits, exponent] = shortest(value);
    FloatParts parts;
    if (exponent < 0) {
        parts.whole = "0";
        parts.fraction = std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    } else {
        const auto before = static_cast<size_t>(exponent) + 1;
        if (digits.size() < before) digits.resize(before, '0');
        parts.whole = digits.substr(0, before);
        parts.fraction = digits.substr(before);
    }
    if (precision && static_cast<int64_t>(parts.fraction.size()) > *precision) {
        parts = fixed_positional(value, *precision);
        drop_zeros(parts.fraction);
        return parts;
    }
    drop_zeros(parts.fraction);
    return with_sign(value, std::move(parts));
}

FloatParts FloatDigits::scientific(double value, std::optional<int> precision) const {
    if (value == 0) return with_sign(value, {"0", "", 0});
    const auto [digits, exponent] = shortest(value);
    if (precision && static_cast<int64_t>(digits.size()) - 1 > *precision) {
        FloatParts parts = fixed_scientific(value, *precision);
        drop_zeros(parts.fraction);
        return parts;
    }
    return with_sign(value, {digits.substr(0, 1), digits.substr(1), exponent});
}

FloatParts fixed_positional(double value, int precision) {
    auto [whole, fraction] = parted(printed(std::abs(value), std::chars_format::fixed, precision), '.');
    return with_sign(value, {std::move(whole), std::move(fraction), 0});
}

FloatParts fixed_scientific(double value, int precision) {
    const auto [mantissa, exponent] =
        parted(printed(std::abs(value), std::chars_format::scientific, precision), 'e');
    auto [whole, fraction] = parted(mantissa, '.');
    return with_sign(value, {std::move(whole), std::move(fraction), std::stoi(exponent)});
}

}  // namespace weft
