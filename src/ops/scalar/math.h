// Logarithms, inverse trigonometric and inverse hyperbolic functions of real numbers, and powers, of which
// SLEEF does the work. exponential.h, error_function.h, roots.h and trigonometry.h have what is weft's own.
#pragma once

#include "ops/scalar/exponential.h"
#include "ops/scalar/floating.h"
#include "ops/scalar/real.h"
#include "ops/scalar/roots.h"
#include "ops/scalar/sleef.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

constexpr double kLn2 = 0.69314718055994530941723212145818;
constexpr double kLog2E = 1.4426950408889634073599246810019;
constexpr double kLog10E = 0.43429448190325182765112891891661;
constexpr double kPi = 3.1415926535897932384626433832795;

// What is SLEEF's as it is.
using sleef::arccos;
using sleef::arcsin;
using sleef::arctan;
using sleef::arctan2;
using sleef::arctanh;
using sleef::exp10;
using sleef::exp2;
using sleef::log;
using sleef::log10;
using sleef::log2;

// SLEEF's log1p overflows for the largest arguments: take a power of two out of them.
template <Real T>
inline T log1p(T x) {
    constexpr T kLarge = sizeof(T) == 8 ? static_cast<T>(1e300) : static_cast<T>(1e30F);
    const bool is_large = x > kLarge;
    const T result = sleef::log1p(is_large ? x * static_cast<T>(0x1p-64) : x);
    return is_large ? result + static_cast<T>(64 * kLn2) : (fabs(x) < kTiny<T> ? x : result);
}

template <Real T>
inline T logaddexp(T x, T y) {
    const T larger = x > y ? x : y;
    const T sum = larger + log1p(exp(-fabs(x - y)));
    return x == y ? x + static_cast<T>(kLn2) : (isnan(x - y) ? x + y : sum);
}
template <Real T>
inline T logaddexp2(T x, T y) {
    const T larger = x > y ? x : y;
    const T sum = larger + static_cast<T>(kLog2E) * log1p(exp2(-fabs(x - y)));
    return x == y ? x + static_cast<T>(1) : (isnan(x - y) ? x + y : sum);
}

template <Real T>
inline T tan(T x) {
    return fabs(x) < kTiny<T> ? x : sleef::tan(x);
}

// log2(x) within a part in ten thousand of itself, for finite x above 0.
inline double rough_log2(double x) {
    const bool is_subnormal = x < 0x1p-1022;
    // x = m * 2**e with m from sqrt(1/2) to sqrt(2); n is e + 1024.
    constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
    constexpr uint64_t kOffset = uint64_t{1024} << 52;
    const uint64_t shifted = bits(is_subnormal ? x * 0x1p54 : x) + kOffset;
    const uint64_t n = (shifted - kRootOfHalf) >> 52;
    const double e = from_bits<double>(n | bits(0x1p52)) - (is_subnormal ? 0x1p52 + 1078 : 0x1p52 + 1024);
    const double f = from_bits<double>(shifted - (n << 52)) - 1.0;
    return fma(f, horner(f, 1.4426393, -0.7206445, 0.4858234, -0.3894256, 0.2493906), e);
}

inline float power(float x, float y) {
    const float result = sleef::pow(x, y);
    return y == 1 ? x : result;
}
// SLEEF's function is infinite 1.7e-6 below the largest number already: there, the square of the root.
inline double power(double x, double y) {
    const double magnitude = fabs(x);
    const bool is_near_overflow = (rough_log2(magnitude) * y > 1023.9) & (magnitude > 0) &
                                  (magnitude < kInfinity<double>)&(fabs(y) < kInfinity<double>);
    const double root = sleef::pow(is_near_overflow ? magnitude : x, is_near_overflow ? 0.5 * y : y);
    // 0 for an even exponent, 1 or -1 for an odd one.
    const double parity = y - 2.0 * rint(0.5 * y);
    const double of_negative = parity == 0 ? root : (fabs(parity) == 1 ? -root : kNaN<double>);
    const double result = is_near_overflow ? root * (x < 0 ? of_negative : root) : root;
    return y == 1 ? x : result;
}
inline double float_power(double x, double y) { return power(x, y); }

// log(x + sqrt(x**2 + 1)) and log(x + sqrt(x**2 - 1)) in terms of the distance of their argument from one.
// Where the square might overflow, the logarithm of 2x.
template <Real T>
constexpr T kLargeForSquare = sizeof(T) == 8 ? static_cast<T>(0x1p100) : static_cast<T>(0x1p50F);

template <Real T>
inline T arcsinh(T x) {
    const T magnitude = fabs(x);
    const bool is_large = magnitude > kLargeForSquare<T>;
    const T a = is_large ? static_cast<T>(0) : magnitude;
    const T excess = a + a * a / (static_cast<T>(1) + square_root(fma(a, a, static_cast<T>(1))));
    const T result =
        log1p(is_large ? magnitude : excess) + (is_large ? static_cast<T>(kLn2) : static_cast<T>(0));
    return magnitude < kTiny<T> ? x : copysign(result, x);
}
template <Real T>
inline T arccosh(T x) {
    const bool is_large = x > kLargeForSquare<T>;
    const T excess = x - static_cast<T>(1);
    const T sum = excess + square_root(excess * (excess + static_cast<T>(2)));
    const T result = log1p(is_large ? x : sum) + (is_large ? static_cast<T>(kLn2) : static_cast<T>(0));
    return x < static_cast<T>(1) ? kNaN<T> : result;
}
}  // namespace weft::scalar::inline WEFT_ISA
