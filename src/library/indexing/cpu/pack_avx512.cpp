// pack.h in registers of AVX-512: the chosen lanes of a register are moved together and stored. The
// instruction that does both at once takes hundreds of cycles on AMD's processors.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "library/indexing/cpu/pack.h"

#pragma clang attribute push(                                                                         \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt"))), \
    apply_to = function)

namespace weft {

namespace {

constexpr int64_t kTogether = 64;  // bytes of the mask that are looked at together

struct Lanes1 {
    static constexpr int64_t kCount = 64;
    static __m512i pack(uint64_t chosen, __m512i all) { return _mm512_maskz_compress_epi8(chosen, all); }
    static void store(char* to, uint64_t lanes, __m512i all) { _mm512_mask_storeu_epi8(to, lanes, all); }
};

struct Lanes2 {
    static constexpr int64_t kCount = 32;
    static __m512i pack(uint64_t chosen, __m512i all) {
        return _mm512_maskz_compress_epi16(static_cast<__mmask32>(chosen), all);
    }
    static void store(char* to, uint64_t lanes, __m512i all) {
        _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(lanes), all);
    }
};

struct Lanes4 {
    static constexpr int64_t kCount = 16;
    static __m512i pack(uint64_t chosen, __m512i all) {
        return _mm512_maskz_compress_epi32(static_cast<__mmask16>(chosen), all);
    }
    static void store(char* to, uint64_t lanes, __m512i all) {
        _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(lanes), all);
    }
};

struct Lanes8 {
    static constexpr int64_t kCount = 8;
    static __m512i pack(uint64_t chosen, __m512i all) {
        return _mm512_maskz_compress_epi64(static_cast<__mmask8>(chosen), all);
    }
    static void store(char* to, uint64_t lanes, __m512i all) {
        _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(lanes), all);
    }
};

struct Lanes16 {  // two lanes of 8 bytes an element
    static constexpr int64_t kCount = 4;
    static uint64_t twice(uint64_t elements) { return _pdep_u64(elements, 0x55) * 3; }
    static __m512i pack(uint64_t chosen, __m512i all) { return Lanes8::pack(twice(chosen), all); }
    static void store(char* to, uint64_t lanes, __m512i all) { Lanes8::store(to, twice(lanes), all); }
};

template <class Lanes>
constexpr uint64_t kAll = Lanes::kCount == 64 ? ~uint64_t{0} : (uint64_t{1} << (Lanes::kCount % 64)) - 1;

// The chosen ones of up to 64 elements. load(k): a register of them, those from the element k on.
template <class Lanes, class Load>
int64_t pack_word(uint64_t chosen, const Load& load, char* to, int64_t room) {
    constexpr int64_t kItemsize = sizeof(__m512i) / Lanes::kCount;
    int64_t found = 0;
    if (room >= kTogether) {
        for (int64_t k = 0; k < kTogether; k += Lanes::kCount) {
            const uint64_t here = (chosen >> k) & kAll<Lanes>;
            _mm512_storeu_si512(to + found * kItemsize, Lanes::pack(here, load(k)));
            found += __builtin_popcountll(here);
        }
        return found;
    }
    for (int64_t k = 0; k < kTogether && found < room; k += Lanes::kCount) {
        const uint64_t here = (chosen >> k) & kAll<Lanes>;
        if (here == 0) continue;
        const auto count = std::min<int64_t>(__builtin_popcountll(here), room - found);
        Lanes::store(to + found * kItemsize, _bzhi_u64(~uint64_t{0}, static_cast<uint32_t>(count)),
                     Lanes::pack(here, load(k)));
        found += count;
    }
    return found;
}

uint64_t chosen_of(const char* mask, int64_t count) {
    const uint64_t there = count >= kTogether ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(there, mask);
    return _mm512_test_epi8_mask(bytes, bytes);
}

template <class Lanes>
void pack(const char* mask, int64_t count, const char* from, char* to, int64_t total) {
    constexpr int64_t kItemsize = sizeof(__m512i) / Lanes::kCount;
    int64_t found = 0;
    for (int64_t i = 0; i < count && found < total; i += kTogether) {
        const uint64_t chosen = chosen_of(mask + i, count - i);
        if (chosen == 0) continue;
        char* const out = to + found * kItemsize;
        if (count - i >= kTogether) {
            const auto load = [&](int64_t k) { return _mm512_loadu_si512(from + (i + k) * kItemsize); };
            found += pack_word<Lanes>(chosen, load, out, total - found);
            continue;
        }
        for (uint64_t rest = chosen; rest != 0 && found < total; rest &= rest - 1, ++found) {
            std::memcpy(to + found * kItemsize, from + (i + __builtin_ctzll(rest)) * kItemsize, kItemsize);
        }
    }
}

}  // namespace

void pack_selected_avx512(const char* mask, int64_t count, const char* from, int64_t itemsize, char* to,
                          int64_t total) {
    switch (itemsize) {
        case 1: pack<Lanes1>(mask, count, from, to, total); break;
        case 2: pack<Lanes2>(mask, count, from, to, total); break;
        case 4: pack<Lanes4>(mask, count, from, to, total); break;
        case 8: pack<Lanes8>(mask, count, from, to, total); break;
        default: pack<Lanes16>(mask, count, from, to, total); break;
    }
}

int64_t pack_places_avx512(const char* mask, int64_t count, int64_t first, int64_t* to, int64_t limit) {
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    int64_t found = 0;
    for (int64_t i = 0; i < count && found < limit; i += kTogether) {
        const uint64_t chosen = chosen_of(mask + i, count - i);
        if (chosen == 0) continue;
        const auto places = [&](int64_t k) {
            return _mm512_add_epi64(lanes, _mm512_set1_epi64(first + i + k));
        };
        found += pack_word<Lanes8>(chosen, places, reinterpret_cast<char*>(to + found), limit - found);
    }
    return found;
}

}  // namespace weft

#pragma clang attribute pop

#endif
