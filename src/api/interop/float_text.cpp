// Single floating-point numbers as text: NumPy's format_float_positional and format_float_scientific.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "api/interop/float_digits.h"
#include "weft/print.h"

namespace weft {

namespace {

// Enough digits for each double, exactly: behind the point, and behind the first digit.
constexpr int kExactPlaces = 1080, kExactDigits = 770;

void check_number(std::optional<int> number, const char* name) {
    if (number && *number < 0) throw ValueError(std::string(name) + " must be >= 0");
    if (number && *number > kMostCharacters && std::string_view(name) != "precision") throw_too_large();
}

void check(const FloatTextOptions& options, bool fractional) {
    check_number(options.precision, "precision");
    check_number(options.pad_left, "pad_left");
    check_number(options.pad_right, "pad_right");
    check_number(options.exp_digits, "exp_digits");
    check_number(options.min_digits, "min_digits");
    if (!options.precision && !options.unique)
        throw TypeError("in non-unique mode `precision` must be supplied");
    if (!fractional && options.precision == 0)
        throw ValueError("precision must be greater than 0 if fractional=False");
    if (options.precision > 0 && options.min_digits > options.precision)
        throw ValueError("min_digits must be less than or equal to precision");
    if (std::string_view("k.0-").find(options.trim) == std::string_view::npos)
        throw TypeError("if supplied, trim must be 'k', '.', '0' or '-'");
}

// How many digits a number has that does not end with its shortest ones, of which there are `count`.
std::optional<int> cut_of(int64_t count, const FloatTextOptions& options) {
    if (!options.unique || (options.precision && count > *options.precision)) return options.precision;
    if (!options.min_digits || count >= *options.min_digits) return std::nullopt;
    return std::min(*options.min_digits, options.precision.value_or(*options.min_digits));
}

auto key_of(const FloatParts& scientific) {
    return std::tie(scientific.exponent, scientific.whole, scientific.fraction);
}

bool is_more(const FloatParts& left, const FloatParts& right) {  // of positional ones
    if (left.whole.size() != right.whole.size()) return left.whole.size() > right.whole.size();
    return std::tie(left.whole, left.fraction) > std::tie(right.whole, right.fraction);
}

// d.ddd without its exponent.
FloatParts as_positional(const FloatParts& scientific) {
    const int exponent = scientific.exponent;
    std::string digits = scientific.whole + scientific.fraction;
    if (exponent < 0) return {"0", std::string(static_cast<size_t>(-exponent - 1), '0') + digits, 0};
    const auto before = static_cast<size_t>(exponent) + 1;
    if (digits.size() < before) digits.resize(before, '0');
    return {digits.substr(0, before), digits.substr(before), 0};
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
    check(options, options.fractional);
    if (!std::isfinite(number)) return special_text(number, options.sign);
    const double value = std::abs(number);
    const FloatDigits kind(dtype);
    auto [digits, exponent] = kind.shortest(value);
    const auto count = static_cast<int64_t>(digits.size());
    FloatParts parts;
    if (const auto cut = cut_of(options.fractional ? count - 1 - exponent : count, options)) {
        if (options.fractional) {
            parts = fixed_positional(value, *cut);
        } else {
            const FloatParts scientific = fixed_scientific(value, std::max(*cut, 1) - 1);
            exponent = scientific.exponent;
            parts = as_positional(scientific);
        }
        // NumPy's digits end where a carry ends.
        if (options.unique && is_more(parts, fixed_positional(value, kExactPlaces)))
            drop_zeros(parts.fraction);
    } else {
        parts = kind.positional(value, std::nullopt);
    }
    // Without `fractional` digits count, too, that stand before the point.
    const int before = options.fractional ? 0 : exponent + 1;
    if (options.unique)
        pad_right(parts.fraction, static_cast<size_t>(std::max(options.min_digits.value_or(0) - before, 0)));
    std::string behind = trimmed(std::move(parts.fraction), options.trim);
    if (options.pad_right && static_cast<int64_t>(behind.size()) <= *options.pad_right)
        behind.resize(static_cast<size_t>(*options.pad_right) + 1, ' ');
    return at_the_right(sign_of(number, options.sign) + parts.whole, options.pad_left) + behind;
}

std::string format_float_scientific(double number, DType dtype, const FloatTextOptions& options) {
    check(options, true);
    if (!std::isfinite(number)) return special_text(number, options.sign);
    const double value = std::abs(number);
    const FloatDigits kind(dtype);
    FloatParts parts = kind.scientific(value, std::nullopt);
    std::string needed = parts.fraction;  // without zeros that only fill up
    if (const auto cut = cut_of(static_cast<int64_t>(parts.fraction.size()), options)) {
        parts = fixed_scientific(value, *cut);
        needed = parts.fraction;
        const FloatParts exact = fixed_scientific(value, kExactDigits);
        const bool is_exact =
            parts.exponent == exact.exponent && parts.whole == exact.whole &&
            exact.fraction.find_first_not_of('0', parts.fraction.size()) == std::string::npos &&
            exact.fraction.starts_with(parts.fraction);
        // NumPy's digits end where a carry ends, or, if they need not be unique, where the number does.
        if (value == 0 || key_of(parts) > key_of(exact) || (!options.unique && is_exact)) drop_zeros(needed);
        if (options.unique) parts.fraction = needed;
    }
    if (options.unique) pad_right(parts.fraction, static_cast<size_t>(options.min_digits.value_or(0)));
    // As NumPy: the point goes only where there was no digit behind it.
    const char trim = options.trim == '-' && !needed.empty() ? '.' : options.trim;
    return at_the_right(sign_of(number, options.sign) + parts.whole, options.pad_left) +
           trimmed(parts.fraction, trim) + "e" +
           exponent_text(parts.exponent, static_cast<size_t>(std::min(options.exp_digits, 5)));
}

}  // namespace weft
