// Powers of real numbers: 2**(y * log2(x)), for float64 with the logarithm and its product in two parts, for
// float32 in float64. Without branches or tables, so that a loop vectorises whole. The polynomials come from
// tools/derive_error_function.py; sums and products of two parts are Dekker's ("A floating-point technique
// for extending the available precision", 1971).
#pragma once

#include "ops/scalar/exponential.h"
#include "ops/scalar/floating.h"
#include "ops/scalar/sleef.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

// x = m * 2**e with m from sqrt(1/2) to sqrt(2), for finite x above 0.
struct NearOne {
    double m, e;
};
inline NearOne near_one(double x) {
    const bool is_subnormal = x < 0x1p-1022;
    constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
    constexpr uint64_t kOffset = uint64_t{1024} << 52;
    const uint64_t shifted = bits(is_subnormal ? x * 0x1p54 : x) + kOffset;
    const uint64_t n = (shifted - kRootOfHalf) >> 52;  // e + 1024
    const double e = from_bits<double>(n | bits(0x1p52)) - (is_subnormal ? 0x1p52 + 1078 : 0x1p52 + 1024);
    return {from_bits<double>(shifted - (n << 52)), e};
}

// What the rules of C99's annex F make of |x|**y.
template <Real T>
inline T with_sign_of_power(T x, T y, T of_magnitude) {
    const bool is_whole = rint(y) == y;
    const bool is_odd = is_whole & (fabs(y - static_cast<T>(2) * rint(static_cast<T>(0.5) * y)) == 1);
    const T result = is_odd ? copysign(of_magnitude, x) : of_magnitude;
    const bool is_undefined = (x < 0) & !is_whole & isfinite(x);
    return is_undefined ? kNaN<T> : ((y == 0) | (x == 1) ? static_cast<T>(1) : result);
}

// A number in two parts, of which the second is small beside the first.
struct TwoParts {
    double high, low;
};
inline TwoParts sum_of_larger(double larger, double smaller) {
    const double high = larger + smaller;
    return {high, (larger - high) + smaller};
}
inline TwoParts exact_product(double x, double y) {
    const double high = x * y;
    return {high, fma(x, y, -high)};
}
inline TwoParts product(TwoParts x, TwoParts y) {
    const TwoParts first = exact_product(x.high, y.high);
    return {first.high, fma(x.high, y.low, fma(x.low, y.high, first.low))};
}

// log2(x) within 2**-63 of itself: with s = (m - 1) / (m + 1) it is e + c s (1 + s**2 / 3 + s**4 / 5 + ...),
// c = 2 / ln(2).
inline TwoParts log2_in_two_parts(double x) {
    const auto [m, e] = near_one(x);
    const double f = m - 1.0, sum = m + 1.0, lost = m - (sum - 1.0);
    const double reciprocal = 1.0 / sum;
    TwoParts s = {f * reciprocal, 0.0};
    s.low = reciprocal * fma(-s.high, lost, fma(-s.high, sum, f));
    TwoParts t = exact_product(s.high, s.high);
    t.low = fma(2.0 * s.high, s.low, t.low);
    const double behind =
        t.high * horner_by_halves(t.high, 0x1.2776c50ef9bfep-1, 0x1.a61762a7adfabp-2, 0x1.484b13d79bdabp-2,
                                  0x1.0c9a84bf9f8ddp-2, 0x1.c68f2ec45b90ep-3, 0x1.89fedebee2167p-3,
                                  0x1.59df51d178f44p-3, 0x1.5a6cb85a13fcep-3);
    TwoParts series = sum_of_larger(0x1.ec709dc3a03fdp-1, behind);
    series.low += 0x1.d27f05548af0cp-55;
    series = product(t, series);
    const double second = series.low;
    series = sum_of_larger(0x1.71547652b82fep+1, series.high);
    series.low += 0x1.777d0ffda0d24p-55 + second;
    const TwoParts of_m = product(s, series);
    TwoParts result = sum_of_larger(e, of_m.high);
    result.low += of_m.low;
    return result;
}

// Not a number where the rules of powers decide.
inline double power_of_magnitude(double x, double y) {
    constexpr double kMost = 1100.0;  // beyond, all is infinity or zero
    const TwoParts logarithm = log2_in_two_parts(x);
    const double high = y * logarithm.high;
    const bool is_far = !(fabs(high) < kMost);
    const double held = hold_between(high, -kMost, kMost);
    const double low = is_far ? 0.0 : fma(y, logarithm.low, fma(y, logarithm.high, -high));
    const double n = rint(held);
    const double r = (held - n) + low;
    const double rest = ((held - n) - r) + low;
    // exp(a + b)
    const double a = r * ExponentialConstants<double>::kLn2High;
    const double b =
        fma(r, ExponentialConstants<double>::kLn2High, -a) +
        fma(r, ExponentialConstants<double>::kLn2Low, rest * ExponentialConstants<double>::kLn2High);
    const double p = fma(a * a, exponential_rest(a), fma(a, b, b)) + a;
    return scale_by_power(1.0 + p, n);
}

#if defined(__NVPTX__)
// NVIDIA's takes fewer instructions there.
inline float power(float x, float y) {
    const float result = sleef::pow(x, y);
    return y == 1 ? x : result;
}
#else
inline float power(float x, float y) {
    const double magnitude = fabs(static_cast<double>(x));
    const auto [m, e] = near_one(magnitude);
    const double s = (m - 1.0) / (m + 1.0);
    const double of_m = s * horner(s * s, 0x1.71547652beeb3p+1, 0x1.ec709d11f45c6p-1, 0x1.27778083f2215p-1,
                                   0x1.a58d428ebf3eep-2, 0x1.5ced44c95a92ep-2);
    const double nowhere = magnitude == 0 ? -kInfinity<double> : magnitude;
    const double logarithm = (magnitude > 0) & (magnitude < kInfinity<double>) ? e + of_m : nowhere;
    const double exponent = hold_between(static_cast<double>(y) * logarithm, -400.0, 400.0);
    const double n = rint(exponent);
    const double fraction =
        horner(exponent - n, 0x1.0000000261fb6p+0, 0x1.62e430c7f13e2p-1, 0x1.ebfbdadc236dap-3,
               0x1.c6aed4acbdde7p-5, 0x1.3b2dbbf1a4b73p-7, 0x1.5f45712459d3bp-10, 0x1.41d326802d694p-13);
    const double result = fraction * power_of_rounded(n + ExponentialConstants<double>::kMagic);
    const float of_magnitude = magnitude == 1 ? 1.0F : static_cast<float>(result);
    return with_sign_of_power(x, y, isnan(y) ? y : of_magnitude);
}
#endif

inline double power(double x, double y) {
    const double magnitude = fabs(x);
    const bool is_usual = (magnitude > 0) & (magnitude < kInfinity<double>);
    const double of_usual = power_of_magnitude(is_usual ? magnitude : 1.0, y);
    // Zero and infinity, by exponents above and below zero; nan stays.
    const double of_edge = y > 0 ? magnitude : 1.0 / magnitude;
    double result = is_usual ? of_usual : of_edge;
    result = magnitude == 1 ? 1.0 : result;
    return with_sign_of_power(x, y, isnan(y) ? y : result);
}
inline double float_power(double x, double y) { return power(x, y); }

}  // namespace weft::scalar::inline WEFT_ISA
