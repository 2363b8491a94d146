// The text of a float, as Python and NumPy write it: the fewest digits that no other float of its type has,
// the nearest of those. Kernels for GPUs print with it.
//
// By integers of many words, after Steele and White, and Dybvig: no tables, which would be in each module,
// and exact for each type. It takes some thousand instructions.
#pragma once

#include <cstdint>

namespace weft::scalar {

// What a type of floats holds: bits of the mantissa, and the power of 2 of its least number.
struct FloatFormat {
    int precision;
    int least;
    // From which number on it has exponents.
    double large() const { return precision <= 11 ? 1e3 : precision <= 24 ? 1e6 : 1e16; }
};

// 0.digits times 10 to the power of `point`.
struct ShortestDigits {
    char digits[20];
    int count;
    int point;
};

constexpr int kFloatTextBytes = 32, kComplexTextBytes = 64;

// Integers of many words, the lowest first. None is inlined: the driver's compiler takes long for much code.
namespace words {

constexpr int kMost = 37;  // 2**1077, and 10 times the largest float64

#define WEFT_APART inline __attribute__((noinline))

// value * 2**bits
WEFT_APART void set(uint32_t* words, int count, uint64_t value, int bits) {
    const int whole = bits / 32, rest = bits % 32;
    const uint32_t parts[4] = {0, static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32), 0};
    for (int k = 0; k < count; ++k) words[k] = 0;
    for (int k = 0; k < 3 && whole + k < count; ++k)
        words[whole + k] = static_cast<uint32_t>(((uint64_t{parts[k + 1]} << 32 | parts[k]) << rest) >> 32);
}

WEFT_APART void multiply_by_10(uint32_t* words, int count) {
    uint64_t carried = 0;
    for (int k = 0; k < count; ++k) {
        carried += uint64_t{words[k]} * 10;
        words[k] = static_cast<uint32_t>(carried);
        carried >>= 32;
    }
}

// a * factor + b * other - c: its sign; it becomes `a` if `kept`.
WEFT_APART int combine(uint32_t* a, int factor, const uint32_t* b, int other, const uint32_t* c, int count,
                       bool kept) {
    int64_t carried = 0;
    uint32_t any = 0;
    for (int k = 0; k < count; ++k) {
        carried += int64_t{a[k]} * factor + int64_t{b[k]} * other - int64_t{c[k]};
        const auto word = static_cast<uint32_t>(carried);
        if (kept) a[k] = word;
        any |= word;
        carried >>= 32;
    }
    return carried < 0 ? -1 : carried > 0 || any != 0 ? 1 : 0;
}

#undef WEFT_APART

}  // namespace words

class DigitMaker {
public:
    // Of a number mantissa * 2**exponent above 0. `uneven`: the next smaller one is half as far as the next
    // larger one.
    DigitMaker(uint64_t mantissa, int exponent, bool uneven)
        : uneven_(uneven), is_even_((mantissa & 1) == 0), mantissa_(mantissa), exponent_(exponent) {}

    void make(ShortestDigits& made) {
        const int highest = exponent_ + 63 - __builtin_clzll(mantissa_);  // the power of 2 below the number
        const int below = exponent_ < 0 ? -exponent_ : 0, above = exponent_ > 0 ? exponent_ : 0;
        const int count = (below + (highest < 0 ? -highest : highest) + 64) / 32 + 1;
        count_ = count < words::kMost ? count : words::kMost;
        // number_ / scale_ is the number, margin_ / scale_ half of the way to the next smaller one.
        const int twice = uneven_ ? 2 : 1;
        words::set(number_, count_, mantissa_, twice + above);
        words::set(scale_, count_, 1, twice + below);
        words::set(margin_, count_, 1, above);
        int point = ((highest * 315653) >> 20) + 1;  // log10(2) * 2**20; one more at most
        for (int k = 0; k < point; ++k) words::multiply_by_10(scale_, count_);
        for (int k = 0; k > point; --k) multiply();
        if (reaches_scale()) {
            ++point;
        } else {
            multiply();
        }
        made.point = point;
        made.count = 0;
        for (;;) {
            int digit = -1;
            int left = 0;
            do {  // one time too many
                ++digit;
                left = words::combine(number_, 1, margin_, 0, scale_, count_, /*kept=*/true);
            } while (left >= 0);
            words::combine(number_, 1, scale_, 2, scale_, count_, /*kept=*/true);
            const int above_margin = words::combine(number_, 1, margin_, 0, margin_, count_, /*kept=*/false);
            const bool is_low = is_even_ ? above_margin <= 0 : above_margin < 0;
            const bool is_high = reaches_scale();
            const bool is_last = is_low || is_high;
            if (is_last && rounds_up(digit, is_low, is_high)) ++digit;
            made.digits[made.count++] = static_cast<char>('0' + digit);
            if (is_last) return;
            multiply();
        }
    }

private:
    void multiply() {
        words::multiply_by_10(number_, count_);
        words::multiply_by_10(margin_, count_);
    }
    // Whether the number and the way to the middle of it and the next larger one come to the scale, or, of an
    // odd number, are beyond it.
    bool reaches_scale() {
        const int sign = words::combine(number_, 1, margin_, uneven_ ? 2 : 1, scale_, count_, /*kept=*/false);
        return is_even_ ? sign >= 0 : sign > 0;
    }
    // Twice what is left of the number beside the scale; in the middle an even digit is taken.
    bool rounds_up(int digit, bool is_low, bool is_high) {
        if (is_low != is_high) return is_high;
        const int sign = words::combine(number_, 2, margin_, 0, scale_, count_, /*kept=*/false);
        return sign > 0 || (sign == 0 && (digit & 1) != 0);
    }

    const bool uneven_, is_even_;
    const uint64_t mantissa_;
    const int exponent_;
    int count_ = 0;
    uint32_t number_[words::kMost], scale_[words::kMost], margin_[words::kMost];
};

// Digits of a number that is not 0, infinite or nan; `value` is one of the type.
inline void shortest_digits(double value, FloatFormat type, ShortestDigits& made) {
    constexpr int kBits = 52, kBias = 1075;
    const auto bits = __builtin_bit_cast(uint64_t, value);
    const int biased = static_cast<int>(bits >> kBits & 0x7ff);
    uint64_t mantissa = bits & ((uint64_t{1} << kBits) - 1);
    int exponent = 1 - kBias;
    if (biased != 0) {
        mantissa |= uint64_t{1} << kBits;
        exponent = biased - kBias;
    }
    // As the type has it: so many bits, or fewer above its least number.
    int surplus = 64 - __builtin_clzll(mantissa) - type.precision;
    if (exponent + surplus < type.least) surplus = type.least - exponent;
    mantissa = surplus >= 0 ? mantissa >> surplus : mantissa << -surplus;
    exponent += surplus;
    const bool is_power = mantissa == uint64_t{1} << (type.precision - 1);
    DigitMaker(mantissa, exponent, is_power && exponent > type.least).make(made);
}

inline char* append_text(char* to, const char* text) {
    while (*text != 0) *to++ = *text++;
    return to;
}

// Appends the text, without a zero byte. `has_point`: with ".0" where it has neither point nor exponent.
inline char* append_float(char* to, double value, FloatFormat type, bool has_point) {
    if (value != value) return append_text(to, "nan");
    const double size = __builtin_fabs(value);
    if (__builtin_bit_cast(uint64_t, value) >> 63 != 0) *to++ = '-';
    if (size == __builtin_inf()) return append_text(to, "inf");
    if (size == 0) return append_text(to, has_point ? "0.0" : "0");
    ShortestDigits all;
    shortest_digits(size, type, all);
    const auto append = [&](int from, int end) {  // zeros beyond the last digit
        for (int k = from; k < end; ++k) *to++ = k < all.count ? all.digits[k] : '0';
    };
    if (size < 1e-4 || size >= type.large()) {
        append(0, 1);
        if (all.count > 1) *to++ = '.';
        append(1, all.count);
        *to++ = 'e';
        int power = all.point - 1;
        *to++ = power < 0 ? '-' : '+';
        if (power < 0) power = -power;
        if (power >= 100) *to++ = static_cast<char>('0' + power / 100);
        *to++ = static_cast<char>('0' + power / 10 % 10);
        *to++ = static_cast<char>('0' + power % 10);
        return to;
    }
    if (all.point <= 0) {
        to = append_text(to, "0.");
        for (int k = all.point; k < 0; ++k) *to++ = '0';
        append(0, all.count);
        return to;
    }
    append(0, all.point);
    if (all.count > all.point) {
        *to++ = '.';
        append(all.point, all.count);
    } else if (has_point) {
        to = append_text(to, ".0");
    }
    return to;
}

// Texts end with a zero byte.
inline void write_float(double value, FloatFormat type, char* to) {
    *append_float(to, value, type, true) = 0;
}

inline void write_complex(double real, double imaginary, FloatFormat type, char* to) {
    const bool has_real = real != 0 || __builtin_bit_cast(uint64_t, real) >> 63 != 0;
    if (has_real) {
        *to++ = '(';
        to = append_float(to, real, type, false);
        if (imaginary != imaginary || __builtin_bit_cast(uint64_t, imaginary) >> 63 == 0) *to++ = '+';
    }
    to = append_float(to, imaginary, type, false);
    *to++ = 'j';
    if (has_real) *to++ = ')';
    *to = 0;
}

}  // namespace weft::scalar
