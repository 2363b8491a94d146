#include "api/interop/element_text.h"

#include <cmath>

#include "api/interop/float_digits.h"
#include "core/scalar_traits.h"

namespace weft {

namespace {

// `zero` is what stands behind a whole number.
std::string float_text(double value, DType dtype, const char* zero) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    const FloatDigits digits(dtype);
    const double magnitude = std::abs(value);
    if (magnitude == 0 || (1e-4 <= magnitude && magnitude < digits.large_alone())) {
        const FloatParts parts = digits.positional(value, std::nullopt);
        return parts.fraction.empty() ? parts.whole + zero : parts.whole + "." + parts.fraction;
    }
    const FloatParts parts = digits.scientific(value, std::nullopt);
    return parts.whole + (parts.fraction.empty() ? "" : ".") + parts.fraction + "e" +
           exponent_text(parts.exponent);
}

std::string complex_text(double real, double imaginary, DType part) {
    const std::string text = float_text(imaginary, part, "") + "j";
    if (real == 0 && !std::signbit(real)) return text;
    return "(" + float_text(real, part, "") + (text[0] == '-' ? "" : "+") + text + ")";
}

}  // namespace

std::string element_text(DType dtype, const void* bytes) {
    return visit_scalar_type(dtype.scalar_type(), [&](auto tag) -> std::string {
        using T = typename decltype(tag)::Type;
        const T value = load_element<T>(bytes);
        if constexpr (std::is_same_v<T, bool>) {
            return value ? "True" : "False";
        } else if constexpr (std::is_integral_v<T>) {
            return std::to_string(value);
        } else if constexpr (requires { value.re; }) {
            return complex_text(static_cast<double>(value.re), static_cast<double>(value.im), dtype.real());
        } else {
            return float_text(static_cast<double>(value), dtype, ".0");
        }
    });
}

}  // namespace weft
