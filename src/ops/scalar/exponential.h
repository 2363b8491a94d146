// The exponential function and its relatives expm1, sinh, cosh and tanh, without branches or tables, so that
// a loop over them vectorises whole and in place. The polynomials come from tools/derive_error_function.py.
#pragma once

#include "ops/scalar/floating.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

// c0 + c1 x + c2 x**2 + …
template <Real T>
inline T horner(T, T c0) {
    return c0;
}
template <Real T, typename... Rest>
inline T horner(T x, T c0, Rest... rest) {
    return fma(horner(x, rest...), x, c0);
}

// The same for many terms, of which those behind c0 are two polynomials in x**2 that do not wait for each
// other: a processor that has one long chain of multiplications before it sees too little of the next
// vector's.
template <Real T>
inline T every_second(T, T c0) {
    return c0;
}
template <Real T>
inline T every_second(T, T c0, T) {
    return c0;
}
template <Real T, typename... Rest>
inline T every_second(T square, T c0, T, Rest... rest) {
    return fma(every_second(square, rest...), square, c0);
}
template <Real T, typename... Rest>
inline T horner_by_halves(T x, T c0, T c1, Rest... rest) {
    const T square = x * x;
    const T behind = fma(every_second(square, rest...), x, every_second(square, c1, rest...));
    return fma(behind, x, c0);
}

template <Real T>
struct ExponentialConstants;
template <>
struct ExponentialConstants<double> {
    static constexpr double kMagic =
        0x1.8p52;  // adding it rounds to an integer, which is then in the low bits
    static constexpr double kLn2High = 0x1.62e42fefa39efp-1;
    static constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
    static constexpr double kLargest = 710.0;    // above, exp overflows
    static constexpr double kSmallest = -746.0;  // below, it is zero
};
template <>
struct ExponentialConstants<float> {
    static constexpr float kMagic = 0x1.8p23F;
    static constexpr float kLn2High = 0x1.62e43p-1F;
    static constexpr float kLn2Low = -0x1.05c61p-29F;
    static constexpr float kLargest = 89.0F;
    static constexpr float kSmallest = -104.0F;
};

// (exp(r) - 1 - r) / r**2 for |r| <= ln(2)/2, relative to exp(r) - 1 within 2**-57 and 2**-26.
inline double exponential_rest(double r) {
    return horner_by_halves(r, 0x1.0000000000005p-1, 0x1.555555555555cp-3, 0x1.555555555209ap-5,
                            0x1.111111110e69cp-7, 0x1.6c16c17f509dap-10, 0x1.a01a01b5eea02p-13,
                            0x1.a019a6352aaa5p-16, 0x1.71dde9ccfa2dep-19, 0x1.28a30002bf6b6p-22,
                            0x1.af770dae2e602p-26);
}
inline float exponential_rest(float r) {
    return horner(r, 0x1p-1F, 0x1.5554aep-3F, 0x1.555488p-5F, 0x1.122874p-7F, 0x1.6d98bcp-10F);
}

// 2**n for a whole number n that was rounded by adding kMagic: `shifted` is n + kMagic.
template <Real T>
inline T power_of_rounded(T shifted) {
    using Layout = FloatLayout<T>;
    return from_bits<T>((bits(shifted) + Layout::kBias) << Layout::kMantissaBits);
}

// exp(x + low) = 2**n * (1 + p), |p| < 0.42, for a small `low` and x between kSmallest and kLargest.
template <Real T>
struct Exponential {
    T n;
    T p;
};
template <Real T>
inline Exponential<T> exponential_parts(T x, T low) {
    using Constants = ExponentialConstants<T>;
    const T n = fma(x, static_cast<T>(0x1.71547652b82fep+0), Constants::kMagic) - Constants::kMagic;
    T r = fma(-n, Constants::kLn2High, x);
    r = fma(-n, Constants::kLn2Low, r) + low;
    return {n, fma(r * r, exponential_rest(r), r)};
}

// value * 2**n in two steps, so that results may be subnormal and n beyond the exponents: one rounding.
template <Real T>
inline T scale_by_power(T value, T n) {
    using Constants = ExponentialConstants<T>;
    const T shifted_half = fma(n, static_cast<T>(0.5), Constants::kMagic);
    const T rest = n - (shifted_half - Constants::kMagic);
    return value * power_of_rounded(shifted_half) * power_of_rounded(rest + Constants::kMagic);
}

// x held between two bounds; nan stays nan.
template <Real T>
inline T hold_between(T x, T lower, T upper) {
    x = x > upper ? upper : x;
    return x < lower ? lower : x;
}

template <Real T>
inline T exp(T x) {
    using Constants = ExponentialConstants<T>;
    const auto [n, p] =
        exponential_parts(hold_between(x, Constants::kSmallest, Constants::kLargest), static_cast<T>(0));
    return scale_by_power(static_cast<T>(1) + p, n);
}

// (exp(x) - 1) * factor for a factor of 1 or 1/2. The subtraction is exact, or harmless, on 2**n - 1.
template <Real T>
inline T scaled_expm1(T x, T factor) {
    using Constants = ExponentialConstants<T>;
    constexpr T kLowest = sizeof(T) == 8 ? static_cast<T>(-40) : static_cast<T>(-20);  // -1 to the last bit
    // Above, a quarter of the result is finite still but a half of it is not.
    constexpr T kLargest = sizeof(T) == 8 ? static_cast<T>(710.6) : static_cast<T>(89.5F);
    const auto [n, p] = exponential_parts(hold_between(x, kLowest, kLargest), static_cast<T>(0));
    const T scale = power_of_rounded((n - static_cast<T>(2)) + Constants::kMagic);
    const T quarter = fma(scale, p, scale - static_cast<T>(0.25));
    return quarter * (static_cast<T>(4) * factor);
}

// Below this magnitude expm1, sinh, tanh and their inverses are their argument, to the last bit.
template <Real T>
constexpr T kTiny = sizeof(T) == 8 ? static_cast<T>(0x1p-500) : static_cast<T>(0x1p-60F);

template <Real T>
inline T expm1(T x) {
    const T result = scaled_expm1(x, static_cast<T>(1));
    return fabs(x) < kTiny<T> ? x : result;
}
template <Real T>
inline T sinh(T x) {
    const T half = scaled_expm1(fabs(x), static_cast<T>(0.5));
    const T result = half + half / (static_cast<T>(2) * half + static_cast<T>(1));
    return fabs(x) < kTiny<T> ? x : copysign(isinf(half) ? half : result, x);
}
template <Real T>
inline T cosh(T x) {
    const T half = scaled_expm1(fabs(x), static_cast<T>(0.5)) + static_cast<T>(0.5);
    return half + static_cast<T>(0.25) / half;
}
template <Real T>
inline T tanh(T x) {
    constexpr T kOne =
        sizeof(T) == 8 ? static_cast<T>(40) : static_cast<T>(20);  // from half of this it is one
    const T twice = static_cast<T>(2) * fabs(x);
    const T grown = scaled_expm1(twice > kOne ? kOne : twice, static_cast<T>(1));
    return fabs(x) < kTiny<T> ? x : copysign(grown / (grown + static_cast<T>(2)), x);
}

}  // namespace weft::scalar::inline WEFT_ISA
