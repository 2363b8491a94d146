// Sine and cosine for GPUs, within 2 ULP, in steps that a kernel takes apart (codegen/ptx/gpu_math.h): an
// angle is a multiple of pi/2 and a rest. It is found without a branch for angles that are not large, and for
// large ones by a function of its own, so that several elements share one branch; then sine and cosine of an
// angle are polynomials in the same rest. Those come from tools/derive_error_function.py.
#pragma once

#include "ops/scalar/trigonometry.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <Real T>
struct ReducedAngle {
    T rest;            // at most pi/4, and a little
    int32_t quadrant;  // the multiple, modulo 4
};

template <Real T>
inline bool is_large_angle(T x) {
    constexpr T kLarge = sizeof(T) == 8 ? static_cast<T>(0x1p30) : static_cast<T>(0x1p17F);
    return !(fabs(x) < kLarge);  // nan is
}

template <Real T>
inline ReducedAngle<T> reduce_angle(T x) {
    const T shifted = shifted_multiple(x);
    return {rest_of_angle(x, shifted), static_cast<int32_t>(bits(shifted))};
}

// 2/pi: the bits behind the point, after a word of zeros.
constexpr uint64_t kTwoOverPiBits[] = {
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41,
    0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB};

// Payne and Hanek: of the angle's 53 bits times 2/pi only the bits around the point are computed, two before
// it and at least 180 behind, of which cancellation takes at most 62.
inline ReducedAngle<double> reduce_large_angle(double x) {
    using Wide = unsigned __int128;
    const uint64_t pattern = bits(x) & ~kSignBit<double>;
    if (pattern >= kInfinityBits<double>) return {kNaN<double>, 0};
    const uint64_t mantissa = (pattern & 0xFFFFFFFFFFFFF) | 0x10000000000000;
    // The angle is mantissa * 2**(exponent - 62); the products with words before the first are multiples
    // of 4.
    const int32_t exponent = static_cast<int32_t>(pattern >> 52) - 1075 + 62;
    const int32_t first = exponent >> 6, shift = exponent & 63;
    uint64_t product[4];  // the highest word last
    uint64_t carry = 0;
    for (int32_t i = 0; i < 4; ++i) {
        const Wide sum = static_cast<Wide>(mantissa) * kTwoOverPiBits[first + 3 - i] + carry;
        product[i] = static_cast<uint64_t>(sum);
        carry = static_cast<uint64_t>(sum >> 64);
    }
    // The quadrant in the highest two bits, the fraction behind them.
    const Wide high = (static_cast<Wide>(product[3]) << 64) | product[2];
    const Wide low = (static_cast<Wide>(product[1]) << 64) | product[0];
    const Wide aligned = shift == 0 ? high : (high << shift) | (low >> (128 - shift));
    const Wide behind = low << shift;
    int32_t quadrant = static_cast<int32_t>(aligned >> 126);
    Wide fraction = (aligned << 2) | (behind >> 126);
    const bool above_half = static_cast<bool>(fraction >> 127);
    if (above_half) {
        ++quadrant;
        fraction = -fraction;
    }
    if (fraction == 0) return {0.0, quadrant};  // no double is so near to a multiple
    const auto top = static_cast<uint64_t>(fraction >> 64);
    const int32_t zeros =
        top != 0 ? __builtin_clzll(top) : 64 + __builtin_clzll(static_cast<uint64_t>(fraction));
    fraction <<= zeros;
    const double scale = power_of_two<double>(-zeros);
    const double leading = static_cast<double>(static_cast<int64_t>(fraction >> 75)) * 0x1p-53 * scale;
    const double trailing =
        static_cast<double>(static_cast<int64_t>((fraction >> 22) & 0x1FFFFFFFFFFFFF)) * 0x1p-106 * scale;
    constexpr double kHalfPi = AngleConstants<double>::kParts[0], kRest = AngleConstants<double>::kParts[1];
    const double rest = leading * kHalfPi;
    const double error = fma(leading, kHalfPi, -rest);
    const double magnitude = rest + fma(trailing, kHalfPi, fma(leading, kRest, error));
    const bool negative = above_half != signbit(x);
    return {negative ? -magnitude : magnitude, signbit(x) ? -quadrant : quadrant};
}
// float64 has room for any rest of a float32.
inline ReducedAngle<float> reduce_large_angle(float x) {
    const auto wide = static_cast<double>(x);
    const ReducedAngle<double> angle = is_large_angle(wide) ? reduce_large_angle(wide) : reduce_angle(wide);
    return {static_cast<float>(angle.rest), angle.quadrant};
}

// The cosine with a term less than on CPUs; the error of the polynomials is 2**-53.9 and 2**-24.8.
inline double short_cosine_of_rest(double r) {
    const double square = r * r;
    return horner(square, 1.0, -0x1.fffffffffff99p-2, 0x1.555555554f117p-5, -0x1.6c16c163fcc3ep-10,
                  0x1.a019f8022f9dep-16, -0x1.27df36ebc3f2bp-22, 0x1.1b860b3609485p-29);
}
inline float short_cosine_of_rest(float r) {
    const float square = r * r;
    return horner(square, 1.0F, -0x1.ffffb6p-2F, 0x1.553ec2p-5F, -0x1.645086p-10F);
}

template <Real T>
inline T sine_of_reduced(ReducedAngle<T> angle) {
    const T sine = sine_of_rest(angle.rest), cosine = short_cosine_of_rest(angle.rest);
    return with_sign_of_quadrant((angle.quadrant & 1) != 0 ? cosine : sine,
                                 static_cast<BitsOf<T>>(angle.quadrant & 2));
}
template <Real T>
inline T cosine_of_reduced(ReducedAngle<T> angle) {
    const T sine = sine_of_rest(angle.rest), cosine = short_cosine_of_rest(angle.rest);
    return with_sign_of_quadrant((angle.quadrant & 1) != 0 ? sine : cosine,
                                 static_cast<BitsOf<T>>((angle.quadrant + 1) & 2));
}

}  // namespace weft::scalar::inline WEFT_ISA
