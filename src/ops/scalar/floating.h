// Floating-point numbers taken apart and rounded: tests, signs, neighbours, mantissas and exponents.
#pragma once

#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <AnyFloat T>
inline bool isnan(T x) {
    return static_cast<BitsOf<T>>(bits(x) & ~kSignBit<T>) > kInfinityBits<T>;
}
template <AnyFloat T>
inline bool isinf(T x) {
    return static_cast<BitsOf<T>>(bits(x) & ~kSignBit<T>) == kInfinityBits<T>;
}
template <AnyFloat T>
inline bool isfinite(T x) {
    return static_cast<BitsOf<T>>(bits(x) & ~kSignBit<T>) < kInfinityBits<T>;
}
template <AnyFloat T>
inline bool signbit(T x) {
    return (bits(x) & kSignBit<T>) != 0;
}
template <Integral T>
inline bool isnan(T) {
    return false;
}
template <Integral T>
inline bool isinf(T) {
    return false;
}
template <Integral T>
inline bool isfinite(T) {
    return true;
}
template <Real T>
inline bool isnan(Complex<T> x) {
    return isnan(x.re) | isnan(x.im);
}
template <Real T>
inline bool isinf(Complex<T> x) {
    return isinf(x.re) | isinf(x.im);
}
template <Real T>
inline bool isfinite(Complex<T> x) {
    return isfinite(x.re) & isfinite(x.im);
}

template <AnyFloat T>
inline T fabs(T x) {
    return from_bits<T>(static_cast<BitsOf<T>>(bits(x) & ~kSignBit<T>));
}
// The sign is subtracted, which for the highest bit is to set it: of "or" LLVM 19 makes wrong code for
// AVX-512 where a mask chooses between the result and `sign` (vpternlog with a constant in memory takes its
// operands for others).
template <AnyFloat T>
inline T copysign(T magnitude, T sign) {
    return from_bits<T>(static_cast<BitsOf<T>>((bits(magnitude) & ~kSignBit<T>)-(bits(sign) & kSignBit<T>)));
}

inline float rint(float x) { return __builtin_rintf(x); }
inline double rint(double x) { return __builtin_rint(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline double floor(double x) { return __builtin_floor(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline double ceil(double x) { return __builtin_ceil(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline double trunc(double x) { return __builtin_trunc(x); }
template <Real T>
inline Complex<T> rint(Complex<T> x) {
    return {rint(x.re), rint(x.im)};
}
template <Integral T>
inline T floor(T x) {
    return x;
}
template <Integral T>
inline T ceil(T x) {
    return x;
}
template <Integral T>
inline T trunc(T x) {
    return x;
}

// The neighbours of x in the order of the real numbers: bits of one sign are ordered as their magnitudes. Of
// two zeros it is the second, as in C; of float16, in NumPy, the first.
template <AnyFloat T>
inline T nextafter(T x, T towards) {
    using Bits = BitsOf<T>;
    const Bits magnitude = static_cast<Bits>(bits(x) & ~kSignBit<T>);
    const bool away_from_zero = (towards > x) == !signbit(x);
    const Bits stepped = static_cast<Bits>(away_from_zero ? bits(x) + 1 : bits(x) - 1);
    const Bits smallest = static_cast<Bits>((bits(towards) & kSignBit<T>) | 1);
    T result = from_bits<T>(magnitude == 0 ? smallest : stepped);
    result = x == towards ? (std::is_same_v<T, Half> ? x : towards) : result;
    return isnan(x) ? x : (isnan(towards) ? towards : result);
}

template <Real T>
inline T spacing(T x) {
    const T next = from_bits<T>(bits(x) + 1);  // away from zero; from the largest number to infinity
    const T distance = x == 0 ? from_bits<T>(1) : next - x;
    return isfinite(x) ? distance : (isnan(x) ? x : kNaN<T>);
}
// Of float16 NumPy gives the distance to the next number above, of bfloat16 ml_dtypes that away from zero, of
// -0 too. The difference is exact in float.
template <HalfFloat T>
inline T spacing(T x) {
    const bool down = std::is_same_v<T, Half> & signbit(x);
    const auto beside = static_cast<uint16_t>(down ? bits(x) - 1 : bits(x) + 1);
    const bool from_zero = std::is_same_v<T, Half> & ((bits(x) & 0x7FFF) == 0);
    const T next = from_bits<T>(from_zero ? static_cast<uint16_t>(1) : beside);
    const T difference = static_cast<T>(static_cast<float>(next) - static_cast<float>(x));
    return isfinite(x) ? difference : (isnan(x) ? x : kNaN<T>);
}

// A double has room for any float times any power of two that does not overflow or vanish: one rounding.
inline float ldexp(float x, int64_t exponent) {
    const int64_t clamped = exponent < -400 ? -400 : (exponent > 400 ? 400 : exponent);
    return static_cast<float>(static_cast<double>(x) * power_of_two<double>(clamped));
}
inline float ldexp(float x, int32_t exponent) { return ldexp(x, static_cast<int64_t>(exponent)); }
// In three steps, of which only the last one rounds: a result may be subnormal only after the earlier steps
// were exact, so downward scaling first goes through numbers 2**53 above the smallest normal one.
inline double ldexp(double x, int64_t exponent) {
    int64_t rest = exponent < -2200 ? -2200 : (exponent > 2200 ? 2200 : exponent);
    const double down = power_of_two<double>(-1022 + 53);
    const double up = power_of_two<double>(1023);
    for (int step = 0; step < 2; ++step) {
        const bool is_high = rest > 1023;
        const bool is_low = rest < -1022;
        x *= is_high ? up : (is_low ? down : 1.0);
        rest += is_high ? -1023 : (is_low ? 1022 - 53 : 0);
    }
    rest = rest < -1022 ? -1022 : (rest > 1023 ? 1023 : rest);
    return x * power_of_two<double>(rest);
}
inline double ldexp(double x, int32_t exponent) { return ldexp(x, static_cast<int64_t>(exponent)); }

template <Real T>
inline void frexp(T x, T& mantissa, int32_t& exponent) {
    using Layout = FloatLayout<T>;
    // Subnormal numbers are first scaled into the normal ones.
    const bool is_subnormal = fabs(x) < power_of_two<T>(1 - Layout::kBias);
    const T scaled = is_subnormal ? x * power_of_two<T>(Layout::kMantissaBits + 1) : x;
    const int32_t offset = is_subnormal ? Layout::kMantissaBits + 1 : 0;
    const auto field = static_cast<int32_t>((bits(scaled) & kInfinityBits<T>) >> Layout::kMantissaBits);
    const T in_range = from_bits<T>((bits(scaled) & ~kInfinityBits<T>) | bits(static_cast<T>(0.5)));
    const bool is_plain = isfinite(x) & (x != 0);
    mantissa = is_plain ? in_range : x;
    exponent = is_plain ? field - offset - (Layout::kBias - 1) : 0;
}

template <Real T>
inline void modf(T x, T& fraction, T& whole) {
    whole = isnan(x) ? x : trunc(x);
    fraction = copysign(isinf(x) ? static_cast<T>(0) : x - whole, x);
}

template <Real T>
inline T heaviside(T x, T at_zero) {
    const T sided = x < 0 ? static_cast<T>(0) : static_cast<T>(1);
    return isnan(x) ? x : (x == 0 ? at_zero : sided);
}

}  // namespace weft::scalar::inline WEFT_ISA
