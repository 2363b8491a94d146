// What the scalar operations are written in: the element types and a few helpers on their bits. Everything in
// this folder is freestanding (builtins, no <cmath>): it is compiled into the ahead-of-time loops, into the
// bitcode of the kernel compiler, and for other targets.
//
// An operation is a function template or overload set named as in the op table, from values to a value, or to
// trailing references if it has several results. Branch-free code is preferred: LLVM vectorises it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/complex.h"

// Code compiled for several instruction sets lies in a namespace for each: inline functions of one name would
// be merged by the linker, and the copy for AVX-512 might then run on every machine.
#ifndef WEFT_ISA
#define WEFT_ISA generic
#endif

// & and | on bool are meant as such throughout: && and || are branches, which stand in the way of vectors.
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#pragma clang diagnostic ignored "-Wbitwise-conditional-parentheses"

namespace weft::scalar::inline WEFT_ISA {

template <typename T>
concept Integral = std::is_integral_v<T>;  // bool too
template <typename T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
concept SignedInteger = Integer<T> && std::is_signed_v<T>;
template <typename T>
concept UnsignedInteger = Integer<T> && std::is_unsigned_v<T>;
template <typename T>
concept Real = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <typename T>
concept HalfFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
concept AnyFloat = Real<T> || HalfFloat<T>;
template <typename T>
concept Bool = std::is_same_v<T, bool>;
template <typename T>
constexpr bool is_complex = false;
template <typename T>
constexpr bool is_complex<Complex<T>> = true;

template <typename To, typename From>
inline To bit_cast(From value) {
    return __builtin_bit_cast(To, value);
}

// An operand in memory. A bool's byte may hold anything, as when it was written through a view of another
// type: all but 0 are true.
template <typename T>
inline T read_element(const T* address) {
    if constexpr (std::is_same_v<T, bool>)
        return *reinterpret_cast<const uint8_t*>(address) != 0;
    else
        return *address;
}

// Integers of T's width that are not promoted to int: what promotion makes of a narrow sum or quotient cannot
// always be narrowed again, and then takes twice or four times the vectors.
template <Integer T>
using Exact =
    std::conditional_t<std::is_signed_v<T>, signed _BitInt(8 * sizeof(T)), unsigned _BitInt(8 * sizeof(T))>;
// The same without sign: arithmetic that wraps around.
template <Integer T>
using Wrapping = unsigned _BitInt(8 * sizeof(T));

// Division by a constant becomes a multiplication in vectors of the operands' width. Of other quotients CPUs
// have vectors only in floating point: the float nearest to x / y is on the same side of each whole number n
// as x / y, which is 1 / y away from n or more, since the float is off by n * 2^-24 at most, and n * y is far
// below 2^24 for 16 bits; so it is with double and 2^53 for 32 bits. GPUs have no fast floating-point
// division; their slow integers are those of 16 bits.
#ifdef __NVPTX__
template <Integer T>
using Dividing = std::conditional_t<sizeof(T) == 2, int32_t, Exact<T>>;
#else
template <Integer T>
using Dividing =
    std::conditional_t<sizeof(T) <= 2, float, std::conditional_t<sizeof(T) == 4, double, Exact<T>>>;
#endif

// How a floating-point type is laid out.
template <typename T>
struct FloatLayout;
template <>
struct FloatLayout<double> {
    using Bits = uint64_t;
    using SignedBits = int64_t;
    static constexpr int kMantissaBits = 52;
    static constexpr int kBias = 1023;
};
template <>
struct FloatLayout<float> {
    using Bits = uint32_t;
    using SignedBits = int32_t;
    static constexpr int kMantissaBits = 23;
    static constexpr int kBias = 127;
};
template <>
struct FloatLayout<Half> {
    using Bits = uint16_t;
    using SignedBits = int16_t;
    static constexpr int kMantissaBits = 10;
    static constexpr int kBias = 15;
};
template <>
struct FloatLayout<BFloat16> {
    using Bits = uint16_t;
    using SignedBits = int16_t;
    static constexpr int kMantissaBits = 7;
    static constexpr int kBias = 127;
};
template <typename T>
using BitsOf = typename FloatLayout<T>::Bits;
template <typename T>
constexpr BitsOf<T> kSignBit = static_cast<BitsOf<T>>(static_cast<BitsOf<T>>(1) << (8 * sizeof(T) - 1));
// The bits of infinity, which are also those of the exponent field.
template <typename T>
constexpr BitsOf<T> kInfinityBits = static_cast<BitsOf<T>>(
    ((kSignBit<T> >> FloatLayout<T>::kMantissaBits) - 1) << FloatLayout<T>::kMantissaBits);

template <AnyFloat T>
inline BitsOf<T> bits(T x) {
    return bit_cast<BitsOf<T>>(x);
}
template <AnyFloat T>
inline T from_bits(std::type_identity_t<BitsOf<T>> x) {
    return bit_cast<T>(x);
}
template <AnyFloat T>
constexpr T kInfinity = __builtin_bit_cast(T, kInfinityBits<T>);
template <AnyFloat T>
constexpr T kNaN = __builtin_bit_cast(T, static_cast<BitsOf<T>>(kInfinityBits<T> | (kInfinityBits<T> >> 1)));

// 2**exponent for exponents of normal numbers.
template <Real T>
inline T power_of_two(typename FloatLayout<T>::SignedBits exponent) {
    using Layout = FloatLayout<T>;
    return from_bits<T>(static_cast<BitsOf<T>>(exponent + Layout::kBias) << Layout::kMantissaBits);
}

inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }

}  // namespace weft::scalar::inline WEFT_ISA
