// The natural logarithm of float64 for GPUs, within 1 ULP. What is neither negative, subnormal, infinite nor
// nan has it without a branch; is_rare_for_log tells, so that several elements share one
// (codegen/ptx/gpu_math.h). The polynomial comes from tools/derive_error_function.py.
#pragma once

#include "ops/scalar/exponential.h"
#include "ops/scalar/floating.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

inline int32_t high_word(double x) { return static_cast<int32_t>(bits(x) >> 32); }

// 1/x within 2**-18.
inline double rough_reciprocal(double x) {
#if defined(__NVPTX__)
    return __nvvm_rcp_approx_ftz_d(x);
#else
    return 1.0F / static_cast<float>(x);
#endif
}

// Zero too: less than the smallest normal number, or infinite or nan.
inline bool is_rare_for_log(double x) {
    return static_cast<uint32_t>(high_word(x)) - 0x00100000U >= 0x7FE00000U;
}

// x = 2**k * (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
//     log(1 + f) = 2 atanh(s) = f - s * (f - (2 atanh(s) / s - 2))    s = f / (2 + f)
inline double log_of_normal(double x) {
    constexpr int32_t kRootOfHalf = 0x3FE6A09E;  // the word above
    const int32_t k = (high_word(x) - kRootOfHalf) >> 20;
    const double f =
        from_bits<double>(bits(x) - (static_cast<uint64_t>(static_cast<uint32_t>(k)) << 52)) - 1.0;
    const double divisor = 2.0 + f;
    double reciprocal = rough_reciprocal(divisor);
    reciprocal = fma(reciprocal, fma(-divisor, reciprocal, 1.0), reciprocal);
    double s = f * reciprocal;
    s = fma(fma(-divisor, s, f), reciprocal, s);
    const double square = s * s;
    const double rest =
        horner(square, 0x1.555555555558fp-1, 0x1.9999999980c59p-2, 0x1.2492494147a5cp-2, 0x1.c71c527ec65acp-3,
               0x1.746629d846f87p-3, 0x1.39a39e2f3ca63p-3, 0x1.2ef4409eb58d8p-3);
    // k as a double by its bits: it is what the low word adds to 2**52 + 2**31.
    const double whole =
        from_bits<double>(bits(0x1p52) | (static_cast<uint32_t>(k) ^ 0x80000000U)) - (0x1p52 + 0x1p31);
    constexpr double kLn2High = 0x1.62e42fefa38p-1;  // its products with k are exact
    constexpr double kLn2Low = 0x1.ef35793c7673p-45;
    const double less = fma(s, fma(-square, rest, f), -(whole * kLn2Low));
    return fma(whole, kLn2High, f - less);
}
inline double log_of_any(double x) {
    if (x < 0 || isnan(x)) return kNaN<double>;
    if (x == 0) return -kInfinity<double>;
    if (isinf(x)) return x;
    constexpr double kLn2Of54 = 0x1.2b708872320e2p+5;
    return is_rare_for_log(x) ? log_of_normal(x * 0x1p54) - kLn2Of54 : log_of_normal(x);
}

}  // namespace weft::scalar::inline WEFT_ISA
