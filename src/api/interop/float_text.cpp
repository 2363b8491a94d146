// Single floating-point numbers as text: NumPy's format_float_positional and format_float_scientific.
#include <cmath>
#include <string>

#include "api/interop/float_digits.h"
#include "weft/print.h"

namespace weft {

namespace {

// Enough digits for each double, exactly: behind the point, and behind the first digit.
constexpr int kExactPlaces = 1080, kExactDigits = 770;

void check(const FloatTextOptions& options) {
    if (!options.precision && !options.unique)
        throw ValueError("in non-unique mode `precision` must be supplied");
    if (options.precision && *options.precision < 0) throw ValueError("precision must be >= 0");
    if (std::string_view("k.0-").find(options.trim) == std::string_view::npos)
        throw TypeError("if supplied, trim must be 'k', '.', '0' or '-'");
}

std::string special_text(double value, bool sign) {
    if (std::isnan(value)) return "nan";
    return std::string(value < 0 ? "-" : sign ? "+" : "") + "inf";
}

std::string sign_of(double value, bool sign) { return std::signbit(value) ? "-" : sign ? "+" : ""; }

void pad_right(std::string& digits, size_t width) {
    if (digits.size() < width) digits.resize(width, '0');
}

// What stands behind the whole digits, point and all.
std::string trimmed(std::string fraction, char trim) {
    if (trim == 'k') return "." + fraction;
    drop_zeros(fraction);
    if (fraction.empty()) return trim == '0' ? ".0" : trim == '-' ? "" : ".";
    return "." + fraction;
}

std::string at_the_right(std::string text, std::optional<int> width) {
    if (width && static_cast<int64_t>(text.size()) < *width)
        text.insert(0, static_cast<size_t>(*width) - text.size(), ' ');
    return text;
}

}  // namespace

std::string format_float_positional(double number, DType dtype, const FloatTextOptions& options) {
    check(options);
    if (!std::isfinite(number)) return special_text(number, options.sign);
    const double value = std::abs(number);
    const auto [digits, exponent] = value == 0 ? Decimal{"0", 0} : FloatDigits(dtype).shortest(value);
    const int before =
        options.fractional ? 0 : exponent + 1;  // digits that count, but stand before the point
    const int64_t shortest = std::max<int64_t>(static_cast<int64_t>(digits.size()) - 1 - exponent, 0);
    FloatParts parts;
    const int cut = options.precision ? std::max(*options.precision - before, 0) : 0;
    if (options.unique && (!options.precision || shortest <= cut)) {
        parts = FloatDigits(dtype).positional(value, std::nullopt);
        pad_right(parts.fraction, static_cast<size_t>(shortest));
    } else {
        parts = fixed_positional(value, cut);
        const FloatParts exact = fixed_positional(value, kExactPlaces);
        const auto is_more = [](const FloatParts& left, const FloatParts& right) {
            if (left.whole.size() != right.whole.size()) return left.whole.size() > right.whole.size();
            return std::tie(left.whole, left.fraction) > std::tie(right.whole, right.fraction);
        };
        // NumPy's digits end where a carry ends.
        if (options.unique && is_more(parts, exact)) drop_zeros(parts.fraction);
    }
    pad_right(parts.fraction, static_cast<size_t>(std::max(options.min_digits - before, 0)));
    std::string behind = trimmed(std::move(parts.fraction), options.trim);
    if (options.pad_right && static_cast<int64_t>(behind.size()) <= *options.pad_right)
        behind.resize(static_cast<size_t>(*options.pad_right) + 1, ' ');
    return at_the_right(sign_of(number, options.sign) + parts.whole, options.pad_left) + behind;
}

std::string format_float_scientific(double number, DType dtype, const FloatTextOptions& options) {
    check(options);
    if (!std::isfinite(number)) return special_text(number, options.sign);
    const double value = std::abs(number);
    auto [digits, exponent] = value == 0 ? Decimal{"0", 0} : FloatDigits(dtype).shortest(value);
    const FloatParts exact = fixed_scientific(value, kExactDigits);
    if (!options.unique ||
        (options.precision && static_cast<int64_t>(digits.size()) - 1 > *options.precision)) {
        const FloatParts parts = fixed_scientific(value, *options.precision);
        std::string fraction = parts.fraction;
        const auto key = [](const FloatParts& each) {
            return std::tie(each.exponent, each.whole, each.fraction);
        };
        if (options.unique && key(parts) > key(exact)) drop_zeros(fraction);
        digits = parts.whole + fraction;
        exponent = parts.exponent;
    }
    std::string fraction = digits.substr(1);
    pad_right(fraction, static_cast<size_t>(std::max(options.min_digits, 0)));
    char trim = options.trim;
    const bool is_one_digit = exact.exponent == exponent && exact.whole[0] == digits[0] &&
                              exact.fraction.find_first_not_of('0') == std::string::npos;
    if (trim == '-' && !fraction.empty() && fraction.find_first_not_of('0') == std::string::npos &&
        !is_one_digit)
        trim = '.';  // as NumPy: the point goes only where there was no digit behind it
    return at_the_right(sign_of(number, options.sign) + digits[0], options.pad_left) +
           trimmed(fraction, trim) + "e" +
           exponent_text(exponent, static_cast<size_t>(std::max(options.exp_digits, 0)));
}

}  // namespace weft
