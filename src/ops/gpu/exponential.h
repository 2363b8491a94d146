// exp and erf of float32 for GPUs, which raise 2 to a power by themselves: within 2 ULP, in a third of the
// instructions of those of ops/scalar. The polynomials come from tools/derive_error_function.py.
#pragma once

#include "ops/scalar/error_function.h"
#include "ops/scalar/exponential.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

// 2**x; 0 where that is subnormal.
inline float power_of_two_near(float x) {
#if defined(__NVPTX__)
    return __nvvm_ex2_approx_ftz_f(x);
#else
    return __builtin_exp2f(x);
#endif
}

// 2**n * 2**r with n rounded to a whole number; n is held where its power is a normal number, the rest of
// results that are none is in r. The smaller and the larger of a nan and a number is the number, so that nan
// is in r too.
inline float exp_by_power_of_two(float x) {
    constexpr float kLog2EHigh = 0x1.715476p+0F, kLog2ELow = 0x1.4ae0cp-26F;
    constexpr float kMagic =
        0x1.8p23F + 127;  // adding it rounds, and leaves the exponent's bits of 2**n lowest
    const float shifted =
        __builtin_fmaxf(__builtin_fminf(fma(x, kLog2EHigh, kMagic), kMagic + 127), kMagic - 126);
    float r = fma(x, kLog2EHigh, -(shifted - kMagic));
    r = fma(x, kLog2ELow, r);
    return power_of_two_near(r) * from_bits<float>(bits(shifted) << 23);
}

// As in ops/scalar, but for the tail: erfc(x) is 2 to the power of a polynomial.
inline float erf_by_power_of_two(float x) {
    const float magnitude = __builtin_fabsf(x);
    const float near = fma(x, erf_core(x * x), x);
    const float held = magnitude > 4 ? 4.0F : magnitude;
    const float far =
        1 - power_of_two_near(horner(held, -0x1.025b1p-11F, -0x1.a04488p+0F, -0x1.d75f4ap-1F, -0x1.30a472p-3F,
                                     0x1.0217b2p-5F, -0x1.16b152p-8F, 0x1.19f172p-12F));
    return magnitude < 1 ? near : copysign(far, x);
}

}  // namespace weft::scalar::inline WEFT_ISA
