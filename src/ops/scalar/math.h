// Logarithms, trigonometric and inverse hyperbolic functions of real numbers (exponential.h has the rest).
// The work is done by SLEEF's deterministic scalar functions, called by symbol: the kernel compiler replaces
// the call in a vectorised loop by the vector function with the same bits (op.h, vector_math_functions).
#pragma once

#include "ops/scalar/exponential.h"
#include "ops/scalar/floating.h"
#include "ops/scalar/real.h"
#include "ops/scalar/types.h"

#define WEFT_ARGUMENTS_1(type) type
#define WEFT_ARGUMENTS_2(type) type, type
#define WEFT_VECTOR_MATH(symbol, called, name, accuracy, type, arguments) \
    extern "C" __attribute__((const)) type symbol(WEFT_ARGUMENTS_##arguments(type)) noexcept;
#include "ops/vector_math.inc"
#undef WEFT_VECTOR_MATH
#undef WEFT_ARGUMENTS_1
#undef WEFT_ARGUMENTS_2

namespace weft::scalar::inline WEFT_ISA {

// SLEEF under names that overload: sleef::exp(double), sleef::exp(float).
namespace sleef {
#define WEFT_CALL_1(symbol, called, type) \
    inline type called(type x) { return symbol(x); }
#define WEFT_CALL_2(symbol, called, type) \
    inline type called(type x, type y) { return symbol(x, y); }
#define WEFT_VECTOR_MATH(symbol, called, name, accuracy, type, arguments) \
    WEFT_CALL_##arguments(symbol, called, type)
#include "ops/vector_math.inc"
#undef WEFT_VECTOR_MATH
#undef WEFT_CALL_1
#undef WEFT_CALL_2
}  // namespace sleef

constexpr double kLn2 = 0.69314718055994530941723212145818;
constexpr double kLog2E = 1.4426950408889634073599246810019;
constexpr double kLog10E = 0.43429448190325182765112891891661;
constexpr double kPi = 3.1415926535897932384626433832795;

template <Real T>
inline T exp2(T x) {
    return sleef::exp2(x);
}
template <Real T>
inline T exp10(T x) {
    return sleef::exp10(x);
}
template <Real T>
inline T log(T x) {
    return sleef::log(x);
}
template <Real T>
inline T log2(T x) {
    return sleef::log2(x);
}
template <Real T>
inline T log10(T x) {
    return sleef::log10(x);
}

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
inline T sin(T x) {
    return sleef::sin(x);
}
template <Real T>
inline T cos(T x) {
    return sleef::cos(x);
}
template <Real T>
inline T tan(T x) {
    return fabs(x) < kTiny<T> ? x : sleef::tan(x);
}
template <Real T>
inline T arcsin(T x) {
    return sleef::asin(x);
}
template <Real T>
inline T arccos(T x) {
    return sleef::acos(x);
}
template <Real T>
inline T arctan(T x) {
    return sleef::atan(x);
}
template <Real T>
inline T arctan2(T y, T x) {
    return sleef::atan2(y, x);
}
template <Real T>
inline T hypot(T x, T y) {
    return sleef::hypot(x, y);
}
template <Real T>
inline T cbrt(T x) {
    return sleef::cbrt(x);
}
template <Real T>
inline T power(T x, T y) {
    const T result = sleef::pow(x, y);
    return y == 1 ? x : result;  // the largest number to the power of one would overflow
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
template <Real T>
inline T arctanh(T x) {
    return sleef::atanh(x);
}

}  // namespace weft::scalar::inline WEFT_ISA
