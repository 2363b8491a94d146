// Sine and cosine of real numbers, within 1.6 ULP, in a run of instructions without branches but for large
// angles: an angle is a multiple of pi/2 and a rest, of which sine and cosine are polynomials. A loop that
// wants both of one angle does all that once. The polynomials come from tools/derive_error_function.py.
#pragma once

#include "ops/scalar/exponential.h"
#include "ops/scalar/sleef.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <Real T>
struct AngleConstants;
template <>
struct AngleConstants<double> {
    static constexpr double kMagic = 0x1.8p52;  // adding it rounds to a whole number, which the low bits are
    // Not less: SLEEF's functions are off by thousands of ULP beside multiples of pi/2 between 1e10 and 1e14.
    static constexpr double kLarge = 0x1p47;
    static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
    // pi/2 in parts, each rounded down: so the rest of -0 is -0. An angle less so many times the first one is
    // exact; what is missing of all three is less than the last bit of any rest.
    static constexpr double kParts[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54, 0x1.c1cd129024e08p-107};
};
template <>
struct AngleConstants<float> {
    static constexpr float kMagic = 0x1.8p23F;
    static constexpr float kLarge = 0x1p17F;
    static constexpr float kTwoOverPi = 0x1.45f306p-1F;
    static constexpr float kParts[] = {0x1.921fb4p+0F, 0x1.4442dp-24F, 0x1.846988p-48F};
};

// The multiple of pi/2 that is nearest to an angle, which is not large, and kMagic.
template <Real T>
inline T shifted_multiple(T x) {
    return fma(x, AngleConstants<T>::kTwoOverPi, AngleConstants<T>::kMagic);
}
// The angle less that multiple of pi/2: at most pi/4, and a little.
template <Real T>
inline T rest_of_angle(T x, T shifted) {
    using Constants = AngleConstants<T>;
    const T multiple = shifted - Constants::kMagic;
    T rest = fma(multiple, -Constants::kParts[0], x);
    rest = fma(multiple, -Constants::kParts[1], rest);
    return fma(multiple, -Constants::kParts[2], rest);
}

// 0 is added to the series of the sine, which for r = -0 makes it 0 instead of -0, and the sine -0. The error
// of the polynomials is below 2**-56.5 and 2**-27 of the sine, and 2**-58 and 2**-28.6 of the cosine.
inline double sine_of_rest(double r) {
    const double square = r * r;
    return fma(horner(square, 0.0, -0x1.5555555555548p-3, 0x1.111111110f64ep-7, -0x1.a01a019bc6b01p-13,
                      0x1.71de353316672p-19, -0x1.ae5e2e1f6915bp-26, 0x1.5d8226caac692p-33),
               r, r);
}
inline float sine_of_rest(float r) {
    const float square = r * r;
    return fma(horner(square, 0.0F, -0x1.555544p-3F, 0x1.110702p-7F, -0x1.992dc2p-13F), r, r);
}
inline double cosine_of_rest(double r) {
    return horner(r * r, 1.0, -0x1p-1, 0x1.5555555555539p-5, -0x1.6c16c16c13affp-10, 0x1.a01a019b170f1p-16,
                  -0x1.27e4f718270e3p-22, 0x1.1ee95e010b188p-29, -0x1.8f6ce601493bbp-37);
}
inline float cosine_of_rest(float r) {
    return horner(r * r, 1.0F, -0x1p-1F, 0x1.55553cp-5F, -0x1.6c07f6p-10F, 0x1.9913p-16F);
}

// The sign of the sine in a quadrant, which is known modulo 4.
template <Real T>
inline T with_sign_of_quadrant(T x, BitsOf<T> quadrant) {
    return from_bits<T>(bits(x) ^ ((quadrant & 2) << (8 * sizeof(T) - 2)));
}

#if defined(__NVPTX__)
// ops/gpu/trigonometry.h takes their place.
using sleef::cos;
using sleef::sin;
#else
template <Real T>
inline T sin(T x) {
    const T shifted = shifted_multiple(x), rest = rest_of_angle(x, shifted);
    const T sine = sine_of_rest(rest), cosine = cosine_of_rest(rest);
    const BitsOf<T> quadrant = bits(shifted);
    const T usual = with_sign_of_quadrant((quadrant & 1) != 0 ? cosine : sine, quadrant);
    return rarely::sin(fabs(x) >= AngleConstants<T>::kLarge, x, usual);
}
template <Real T>
inline T cos(T x) {
    const T shifted = shifted_multiple(x), rest = rest_of_angle(x, shifted);
    const T sine = sine_of_rest(rest), cosine = cosine_of_rest(rest);
    const BitsOf<T> quadrant = bits(shifted);
    const T usual = with_sign_of_quadrant((quadrant & 1) != 0 ? sine : cosine, quadrant + 1);
    return rarely::cos(fabs(x) >= AngleConstants<T>::kLarge, x, usual);
}
#endif

}  // namespace weft::scalar::inline WEFT_ISA
