// The decimal digits of floating-point numbers: the fewest that tell a number from others of its type, or so
// many.
#pragma once

#include <charconv>
#include <optional>
#include <string>

#include "weft/dtype.h"

namespace weft {

// A finite number as it is printed: what is before and after the point, the first with its sign.
struct FloatParts {
    std::string whole, fraction;
    int exponent = 0;
};

// A number of the form d.ddd times ten to the exponent.
struct Decimal {
    std::string digits;  // without zeros at the end, but for zero itself
    int exponent = 0;
};

class FloatDigits {
public:
    explicit FloatDigits(DType dtype) : type_(dtype.scalar_type()) {}

    // The fewest digits that read back as the same value of the type; the sign is left out.
    Decimal shortest(double value) const;
    // With as few digits behind the point as that, and not more than `precision`; without needless zeros.
    FloatParts positional(double value, std::optional<int> precision) const;
    FloatParts scientific(double value, std::optional<int> precision) const;
    // A number as the type would hold it.
    double rounded(double value) const;
    // From which magnitude on arrays of the type, and scalars, print with exponents: what its digits can
    // show.
    double large_in_arrays() const;
    double large_alone() const;

private:
    ScalarType type_;
};

// With just so many digits behind the point, which are the value's own.
FloatParts fixed_positional(double value, int precision);
FloatParts fixed_scientific(double value, int precision);

// Numbers of more characters are refused, as NumPy does.
constexpr int kMostCharacters = 16384;
[[noreturn]] void throw_too_large();

// The digits that printf writes, in every locale with a point.
std::string printed(double value, std::chars_format form, int precision);
std::string exponent_text(int exponent, size_t width = 2);  // "+05"
void drop_zeros(std::string& digits);                       // at the end

}  // namespace weft
