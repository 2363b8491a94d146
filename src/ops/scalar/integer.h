// Integer and bool arithmetic: it wraps around, division by zero gives zero, and nothing is undefined.
#pragma once

#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <Integer T>
inline T add(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
}
template <Integer T>
inline T subtract(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
}
template <Integer T>
inline T multiply(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
}
inline bool add(bool x, bool y) { return x | y; }
inline bool multiply(bool x, bool y) { return x & y; }

template <Integer T>
inline T negative(T x) {
    return static_cast<T>(-static_cast<Wrapping<T>>(x));
}
template <Integer T>
inline T positive(T x) {
    return x;
}
template <Integer T>
inline T conjugate(T x) {
    return x;
}
template <Integer T>
inline T absolute(T x) {
    return x < 0 ? negative(x) : x;
}
inline bool absolute(bool x) { return x; }
template <Integer T>
inline T square(T x) {
    return multiply(x, x);
}
template <Integer T>
inline T sign(T x) {
    return static_cast<T>((x > 0) - (x < 0));
}

// A divisor for which the machine's division is defined: not 0, and not -1, whose quotient may not fit.
template <Integer T>
inline T safe_divisor(T y) {
    if constexpr (std::is_signed_v<T>) return (y == 0) | (y == -1) ? static_cast<T>(1) : y;
    return y == 0 ? static_cast<T>(1) : y;
}
template <Integer T>
inline bool is_minus_one(T y) {
    if constexpr (std::is_signed_v<T>) return y == -1;
    return false;
}

// By a divisor for which it is defined.
template <Integer T>
inline T truncated_quotient(T x, T y) {
    if (__builtin_constant_p(y)) return static_cast<T>(static_cast<Exact<T>>(x) / static_cast<Exact<T>>(y));
    return static_cast<T>(static_cast<Exact<T>>(static_cast<Dividing<T>>(x) / static_cast<Dividing<T>>(y)));
}
template <Integer T>
inline T truncated_rest(T x, T y) {
    if (__builtin_constant_p(y)) return static_cast<T>(static_cast<Exact<T>>(x) % static_cast<Exact<T>>(y));
    if constexpr (std::is_floating_point_v<Dividing<T>>) {
        const auto whole = static_cast<Exact<T>>(truncated_quotient(x, y)) * static_cast<Exact<T>>(y);
        return static_cast<T>(static_cast<Exact<T>>(x) - whole);
    } else {
        return static_cast<T>(static_cast<Dividing<T>>(x) % static_cast<Dividing<T>>(y));
    }
}

template <Integer T>
inline void divmod(T x, T y, T& quotient, T& rest) {
    const T divisor = safe_divisor(y);
    T q = truncated_quotient(x, divisor);
    T r = truncated_rest(x, divisor);
    if constexpr (std::is_signed_v<T>) {
        const bool adjust = (r != 0) & ((r < 0) != (divisor < 0));
        q = static_cast<T>(q - static_cast<T>(adjust));
        r = static_cast<T>(r + (adjust ? divisor : static_cast<T>(0)));
    }
    q = is_minus_one(y) ? negative(x) : q;  // the smallest integer stays itself
    quotient = y == 0 ? static_cast<T>(0) : q;
    rest = (y == 0) | is_minus_one(y) ? static_cast<T>(0) : r;
}
template <Integer T>
inline T floor_divide(T x, T y) {
    T quotient, rest;
    divmod(x, y, quotient, rest);
    return quotient;
}
template <Integer T>
inline T remainder(T x, T y) {
    T quotient, rest;
    divmod(x, y, quotient, rest);
    return rest;
}
template <Integer T>
inline T fmod(T x, T y) {
    const T rest = truncated_rest(x, safe_divisor(y));
    return (y == 0) | is_minus_one(y) ? static_cast<T>(0) : rest;
}

// 1 and -1 are their own reciprocals, all others have 0; of 0 it is the smallest integer of 32 bits or more,
// else 0.
template <Integer T>
inline T reciprocal(T x) {
    const T rest = (x == 1) | is_minus_one(x) ? x : static_cast<T>(0);
    if constexpr (sizeof(T) < 4) return rest;
    constexpr auto kTop = static_cast<std::make_unsigned_t<T>>(1) << (8 * sizeof(T) - 1);
    return x == 0 && std::is_signed_v<T> ? static_cast<T>(kTop) : rest;
}

// By squaring. A negative exponent is refused before it comes here; it would give 1.
template <Integer T>
inline T power(T base, T exponent) {
    T result = 1;
    while (exponent > 0) {
        result = (exponent & 1) != 0 ? multiply(result, base) : result;
        base = multiply(base, base);
        exponent = static_cast<T>(exponent >> 1);
    }
    return result;
}

template <Integral T>
inline T bitwise_and(T x, T y) {
    return static_cast<T>(x & y);
}
template <Integral T>
inline T bitwise_or(T x, T y) {
    return static_cast<T>(x | y);
}
template <Integral T>
inline T bitwise_xor(T x, T y) {
    return static_cast<T>(x ^ y);
}
template <Integer T>
inline T invert(T x) {
    return static_cast<T>(~x);
}
inline bool invert(bool x) { return !x; }

// Counts outside of the width, negative ones too, move every bit out.
template <Integer T>
inline bool is_shift(T count) {
    return static_cast<std::make_unsigned_t<T>>(count) < 8 * sizeof(T);
}
template <Integer T>
inline T left_shift(T x, T count) {
    const T safe = is_shift(count) ? count : static_cast<T>(0);
    const T shifted = static_cast<T>(static_cast<Wrapping<T>>(x) << safe);
    return is_shift(count) ? shifted : static_cast<T>(0);
}
template <Integer T>
inline T right_shift(T x, T count) {
    const T safe = is_shift(count) ? count : static_cast<T>(8 * sizeof(T) - 1);
    const T shifted = static_cast<T>(x >> safe);
    if constexpr (std::is_signed_v<T>) return shifted;
    return is_shift(count) ? shifted : static_cast<T>(0);
}

template <Integer T>
inline uint8_t bitwise_count(T x) {
    const auto magnitude = static_cast<std::make_unsigned_t<T>>(absolute(x));
    if constexpr (sizeof(T) == 8) return static_cast<uint8_t>(__builtin_popcountll(magnitude));
    return static_cast<uint8_t>(__builtin_popcount(magnitude));
}

template <Integer T>
inline std::make_unsigned_t<T> magnitude_gcd(T x, T y) {
    auto a = static_cast<std::make_unsigned_t<T>>(absolute(x));
    auto b = static_cast<std::make_unsigned_t<T>>(absolute(y));
    while (a != 0) {
        const auto rest = static_cast<std::make_unsigned_t<T>>(b % a);
        b = a;
        a = rest;
    }
    return b;
}
template <Integer T>
inline T gcd(T x, T y) {
    return static_cast<T>(magnitude_gcd(x, y));
}
template <Integer T>
inline T lcm(T x, T y) {
    const auto divisor = magnitude_gcd(x, y);
    if (divisor == 0) return 0;
    const auto a = static_cast<std::make_unsigned_t<T>>(absolute(x));
    const auto b = static_cast<std::make_unsigned_t<T>>(absolute(y));
    return static_cast<T>(static_cast<Wrapping<T>>(a / divisor) * static_cast<Wrapping<T>>(b));
}

}  // namespace weft::scalar::inline WEFT_ISA
