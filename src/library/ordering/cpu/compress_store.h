// What Highway's sorts store with: the chosen lanes of a register, side by side. AMD's processors take
// hundreds of cycles to do that by the one instruction that exists for it; packing them in a register and
// storing as many lanes takes few on all. Found by Highway's calls, which name the instruction, before the
// compiler's function of the same name; included before Highway.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

namespace hwy {

// NOLINTBEGIN(readability-identifier-naming)
#pragma clang attribute push(__attribute__((target("avx512f,popcnt"))), apply_to = function)

inline __attribute__((always_inline)) void _mm512_mask_compressstoreu_epi32(void* to, __mmask16 lanes,
                                                                            __m512i all) {
    const auto first = static_cast<__mmask16>((1U << __builtin_popcount(lanes)) - 1);
    _mm512_mask_storeu_epi32(to, first, _mm512_maskz_compress_epi32(lanes, all));
}

inline __attribute__((always_inline)) void _mm512_mask_compressstoreu_epi64(void* to, __mmask8 lanes,
                                                                            __m512i all) {
    const auto first = static_cast<__mmask8>((1U << __builtin_popcount(lanes)) - 1);
    _mm512_mask_storeu_epi64(to, first, _mm512_maskz_compress_epi64(lanes, all));
}

#pragma clang attribute pop
// NOLINTEND(readability-identifier-naming)

}  // namespace hwy

#endif
