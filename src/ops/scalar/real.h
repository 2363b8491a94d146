// Arithmetic of real floating-point numbers.
#pragma once

#include "ops/scalar/floating.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <Real T>
inline T add(T x, T y) {
    return x + y;
}
template <Real T>
inline T subtract(T x, T y) {
    return x - y;
}
template <Real T>
inline T multiply(T x, T y) {
    return x * y;
}
template <Real T>
inline T divide(T x, T y) {
    return x / y;
}
template <AnyFloat T>
inline T negative(T x) {
    return from_bits<T>(static_cast<BitsOf<T>>(bits(x) ^ kSignBit<T>));
}
template <AnyFloat T>
inline T positive(T x) {
    return x;
}
template <AnyFloat T>
inline T conjugate(T x) {
    return x;
}
template <AnyFloat T>
inline T absolute(T x) {
    return fabs(x);
}
template <Real T>
inline T square(T x) {
    return x * x;
}
template <Real T>
inline T reciprocal(T x) {
    return static_cast<T>(1) / x;
}
template <Real T>
inline T sqrt(T x) {
    return square_root(x);
}
template <Real T>
inline T sign(T x) {
    const T of_zero = x == 0 ? static_cast<T>(0) : x;  // nan stays
    return x > 0 ? static_cast<T>(1) : (x < 0 ? static_cast<T>(-1) : of_zero);
}

// |x| mod |y| by long division on the mantissas, 11 bits of the quotient an iteration: exact for every pair
// of finite numbers with |x| >= |y| > 0.
inline double fmod_by_long_division(double x, double y) {
    const auto mantissa = [](uint64_t b, int& exponent) {
        const int field = static_cast<int>(b >> 52);
        exponent = field == 0 ? 1 : field;
        return (b & 0xFFFFFFFFFFFFFULL) | (field == 0 ? 0 : 1ULL << 52);
    };
    int x_exponent, y_exponent;
    uint64_t rest = mantissa(bits(x) & ~kSignBit<double>, x_exponent);
    const uint64_t divisor = mantissa(bits(y) & ~kSignBit<double>, y_exponent);
    int distance = x_exponent - y_exponent;
    rest %= divisor;
    while (distance > 0) {
        const int step = distance < 11 ? distance : 11;
        rest = (rest << step) % divisor;
        distance -= step;
    }
    // rest * 2**(y_exponent - 1075): a number below |y|, made from its bits.
    if (rest == 0) return 0.0;
    const int shift = __builtin_clzll(rest) - 11;
    if (shift < y_exponent) {
        return from_bits<double>((rest << shift) - (1ULL << 52) +
                                 (static_cast<uint64_t>(y_exponent - shift) << 52));
    }
    return from_bits<double>(rest << (y_exponent - 1));
}

// Where the quotient is below 2**53 its truncation is off by one at most, and x - quotient * y is exact in a
// fused multiply-add; adding y back where the quotient was one too large is exact as well.
inline double fmod(double x, double y) {
    const double a = fabs(x);
    const double b = fabs(y);
    const double quotient = trunc(a / b);
    double rest = fma(-quotient, b, a);
    rest = rest < 0 ? rest + b : rest;
    rest = a < b ? a : rest;
    if (quotient >= 0x1p53 && isfinite(a) && b > 0) [[unlikely]]
        rest = fmod_by_long_division(a, b);
    const bool is_undefined = !isfinite(x) | (y == 0) | isnan(y);
    return is_undefined ? (isnan(x) ? x : (isnan(y) ? y : kNaN<double>)) : copysign(rest, x);
}
inline float fmod(float x, float y) {
    return static_cast<float>(fmod(static_cast<double>(x), static_cast<double>(y)));
}

// As Python's divmod, with NumPy's care: the quotient is the floor of the exact one where that is
// representable, and zeros carry the sign that the exact result would have.
template <Real T>
inline void divmod(T x, T y, T& quotient, T& rest) {
    const T exact_rest = fmod(x, y);
    const bool adjust = (exact_rest != 0) & ((y < 0) != (exact_rest < 0));
    T q = (x - exact_rest) / y;
    q = adjust ? q - static_cast<T>(1) : q;
    T r = adjust ? exact_rest + y : exact_rest;
    r = exact_rest == 0 ? copysign(static_cast<T>(0), y) : r;
    T floored = floor(q);
    floored = q - floored > static_cast<T>(0.5) ? floored + static_cast<T>(1) : floored;
    floored = q == 0 ? copysign(static_cast<T>(0), x / y) : floored;
    quotient = y == 0 ? x / y : floored;
    rest = y == 0 ? exact_rest : r;
}
template <Real T>
inline T floor_divide(T x, T y) {
    T quotient, rest;
    divmod(x, y, quotient, rest);
    return quotient;
}
template <Real T>
inline T remainder(T x, T y) {
    T quotient, rest;
    divmod(x, y, quotient, rest);
    return rest;
}

constexpr double kDegreesPerRadian = 57.295779513082320876798154814105;
constexpr double kRadiansPerDegree = 0.017453292519943295769236907684886;

template <Real T>
inline T deg2rad(T x) {
    return x * static_cast<T>(kRadiansPerDegree);
}
template <Real T>
inline T radians(T x) {
    return deg2rad(x);
}
template <Real T>
inline T rad2deg(T x) {
    return x * static_cast<T>(kDegreesPerRadian);
}
template <Real T>
inline T degrees(T x) {
    return rad2deg(x);
}

}  // namespace weft::scalar::inline WEFT_ISA
