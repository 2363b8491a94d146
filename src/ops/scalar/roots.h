// Cube roots and the lengths of right triangles' long sides, without branches or tables, so that a loop over
// them vectorises whole and in place. The polynomial comes from tools/derive_error_function.py.
#pragma once

#include "ops/scalar/exponential.h"
#include "ops/scalar/floating.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <Real T>
struct RootConstants;
template <>
struct RootConstants<double> {
    static constexpr uint64_t kThird = 341;  // of the bias, which is a multiple of three
    static constexpr uint64_t kMore = 0;     // what makes it one
    static constexpr double kUp = 0x1p54;    // takes a number out of the subnormal ones
    static constexpr uint64_t kUpThird = 18;
};
template <>
struct RootConstants<float> {
    static constexpr uint32_t kThird = 43;
    static constexpr uint32_t kMore = 2;
    static constexpr float kUp = 0x1p24F;
    static constexpr uint32_t kUpThird = 8;
};

// 1 / cbrt(z) for z from 1 to 2, within 2**-14.7 of itself.
template <Real T>
inline T rough_reciprocal_cube_root(T z) {
    return horner(z, static_cast<T>(0x1.ab8584a4e6a3ap+0), static_cast<T>(-0x1.2c41bc24ab983p+0),
                  static_cast<T>(0x1.6415f6b996d6ep-1), static_cast<T>(-0x1.c517ad0277314p-3),
                  static_cast<T>(0x1.d46e779a0de47p-6));
}

// x = m * 8**k with m from 1 to 8. One step of the series of (1 - r)**(-1/3) for 1 / cbrt(m), from r = 1 - m
// y**3, then one of Newton's for the root itself, whose residue is exact but for its last bits.
template <Real T>
inline T cbrt(T x) {
    using Layout = FloatLayout<T>;
    using Constants = RootConstants<T>;
    using Bits = BitsOf<T>;
    const bool is_subnormal = fabs(x) < power_of_two<T>(1 - Layout::kBias);
    const Bits magnitude = bits(fabs(is_subnormal ? x * Constants::kUp : x));
    const Bits exponent = (magnitude >> Layout::kMantissaBits) + Constants::kMore;
    const Bits third = (exponent * 21846) >> 16;  // exponent / 3, below 2**14
    const Bits rest = exponent - 3 * third;
    const T z =
        from_bits<T>((magnitude & ((Bits{1} << Layout::kMantissaBits) - 1)) | bits(static_cast<T>(1)));
    const T m = z * (rest == 0 ? static_cast<T>(1) : static_cast<T>(rest == 1 ? 2 : 4));
    const T root_of_rest = static_cast<T>(rest == 1 ? 0.79370052598409973738 : 0.62996052494743658238);
    const T rough = rough_reciprocal_cube_root(z) * (rest == 0 ? static_cast<T>(1) : root_of_rest);
    const T r = fma(-(rough * rough), m * rough, static_cast<T>(1));
    const T series = horner(r, static_cast<T>(1.0 / 3), static_cast<T>(2.0 / 9), static_cast<T>(14.0 / 81));
    const T y = fma(rough * r, series, rough);
    const T slope = y * y;
    const T root = m * slope;
    const T square = root * root;
    const T low = fma(root, root, -square);
    const T residue = fma(-low, root, fma(-square, root, m));
    const T corrected = fma(residue, slope * static_cast<T>(1.0 / 3), root);
    const Bits power = third + (Layout::kBias - Constants::kThird) - (is_subnormal ? Constants::kUpThird : 0);
    const T result = copysign(corrected * from_bits<T>(power << Layout::kMantissaBits), x);
    return isfinite(x) & (x != 0) ? result : x;
}

// Squares overflow and lose bits below the normal numbers: a power of two is taken out of the arguments.
inline double hypot(double x, double y) {
    const bool is_swapped = fabs(y) > fabs(x);
    const double larger = fabs(is_swapped ? y : x), smaller = fabs(is_swapped ? x : y);
    const double in = larger > 0x1p500 ? 0x1p-600 : (larger < 0x1p-400 ? 0x1p600 : 1.0);
    const double out = larger > 0x1p500 ? 0x1p600 : (larger < 0x1p-400 ? 0x1p-600 : 1.0);
    const double a = larger * in, b = smaller * in;
    const double result = square_root(fma(a, a, b * b)) * out;
    return isinf(x) | isinf(y) ? kInfinity<double> : result;
}
inline float hypot(float x, float y) {
    const double a = x, b = y;
    return isinf(x) | isinf(y) ? kInfinity<float> : static_cast<float>(square_root(fma(a, a, b * b)));
}
// Squares of float16 are normal numbers of float32, but for zero.
inline Half hypot(Half x, Half y) {
    const float a = static_cast<float>(x), b = static_cast<float>(y);
    return static_cast<Half>(isinf(a) | isinf(b) ? kInfinity<float> : square_root(fma(a, a, b * b)));
}
inline BFloat16 hypot(BFloat16 x, BFloat16 y) {
    return static_cast<BFloat16>(hypot(static_cast<float>(x), static_cast<float>(y)));
}

}  // namespace weft::scalar::inline WEFT_ISA
