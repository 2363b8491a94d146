// Logarithms, inverse trigonometric and inverse hyperbolic functions of real numbers, of which SLEEF does the
// work. exponential.h, error_function.h, power.h, roots.h and trigonometry.h have what is weft's own.
#pragma once

#include "ops/scalar/exponential.h"
#include "ops/scalar/floating.h"
#include "ops/scalar/power.h"
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
