// The search of key_buckets.h in registers of AVX-512. A level of the tree is looked up by permuting two
// registers of splitters, which hold the upper levels together; lower levels take several such pairs.
#include <immintrin.h>

#include <utility>

#include "library/ordering/cpu/key_buckets.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)

namespace weft {

namespace {

struct Lanes16 {
    using Key = uint16_t;
    using Mask = __mmask32;
    static __m512i all(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }
    static __m512i look_up(__m512i low, __m512i places, __m512i high) {
        return _mm512_permutex2var_epi16(low, places, high);
    }
    static Mask at_least(__m512i a, __m512i b) { return _mm512_cmpge_epu16_mask(a, b); }
    static __m512i choose(Mask mask, __m512i no, __m512i yes) { return _mm512_mask_mov_epi16(no, mask, yes); }
    static __m512i step(__m512i places, Mask right) {
        const __m512i twice = _mm512_add_epi16(places, places);
        return _mm512_mask_add_epi16(twice, right, twice, all(1));
    }
    static void store(uint8_t* to, __m512i places, int less) {
        const __m512i buckets = _mm512_sub_epi16(places, all(less));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(buckets));
    }
};

struct Lanes32 {
    using Key = uint32_t;
    using Mask = __mmask16;
    static __m512i all(int value) { return _mm512_set1_epi32(value); }
    static __m512i look_up(__m512i low, __m512i places, __m512i high) {
        return _mm512_permutex2var_epi32(low, places, high);
    }
    static Mask at_least(__m512i a, __m512i b) { return _mm512_cmpge_epu32_mask(a, b); }
    static __m512i choose(Mask mask, __m512i no, __m512i yes) { return _mm512_mask_mov_epi32(no, mask, yes); }
    static __m512i step(__m512i places, Mask right) {
        const __m512i twice = _mm512_add_epi32(places, places);
        return _mm512_mask_add_epi32(twice, right, twice, all(1));
    }
    static void store(uint8_t* to, __m512i places, int less) {
        const __m512i buckets = _mm512_sub_epi32(places, all(less));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(buckets));
    }
};

struct Lanes64 {
    using Key = uint64_t;
    using Mask = __mmask8;
    static __m512i all(int value) { return _mm512_set1_epi64(value); }
    static __m512i look_up(__m512i low, __m512i places, __m512i high) {
        return _mm512_permutex2var_epi64(low, places, high);
    }
    static Mask at_least(__m512i a, __m512i b) { return _mm512_cmpge_epu64_mask(a, b); }
    static __m512i choose(Mask mask, __m512i no, __m512i yes) { return _mm512_mask_mov_epi64(no, mask, yes); }
    static __m512i step(__m512i places, Mask right) {
        const __m512i twice = _mm512_add_epi64(places, places);
        return _mm512_mask_add_epi64(twice, right, twice, all(1));
    }
    static void store(uint8_t* to, __m512i places, int less) {
        const __m512i buckets = _mm512_sub_epi64(places, all(less));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm512_cvtepi64_epi8(buckets));
    }
};

constexpr int kVectors = 2;  // side by side, since each level waits for the one above

template <class Lanes, int levels>
void find_in_lanes(const typename Lanes::Key* keys, size_t count, const typename Lanes::Key* tree,
                   uint8_t* buckets) {
    constexpr int kWidth = 64 / sizeof(typename Lanes::Key);
    const auto pair_at = [&](int entry, __m512i places) __attribute__((always_inline)) {
        return Lanes::look_up(_mm512_loadu_si512(tree + entry), places,
                              _mm512_loadu_si512(tree + entry + kWidth));
    };
    size_t i = 0;
    for (; i + kVectors * kWidth <= count; i += kVectors * kWidth) {
        __m512i key[kVectors], places[kVectors];
        for (int v = 0; v < kVectors; ++v) {
            key[v] = _mm512_loadu_si512(keys + i + static_cast<size_t>(v * kWidth));
            places[v] = Lanes::all(1);
        }
#pragma clang loop unroll(full)
        for (int level = 0; level < levels; ++level) {
#pragma clang loop unroll(full)
            for (int v = 0; v < kVectors; ++v) {
                const int first = 1 << level >= 2 * kWidth ? 1 << level : 0;
                __m512i splitters = pair_at(first, places[v]);
#pragma clang loop unroll(full)
                for (int entry = first + 2 * kWidth; first != 0 && entry < 2 * first; entry += 2 * kWidth)
                    splitters = Lanes::choose(Lanes::at_least(places[v], Lanes::all(entry)), splitters,
                                              pair_at(entry, places[v]));
                places[v] = Lanes::step(places[v], Lanes::at_least(key[v], splitters));
            }
        }
        for (int v = 0; v < kVectors; ++v)
            Lanes::store(buckets + i + static_cast<size_t>(v * kWidth), places[v], 1 << levels);
    }
    for (; i < count; ++i) {
        size_t place = 1;
        for (int level = 0; level < levels; ++level) place = 2 * place + (tree[place] <= keys[i] ? 1 : 0);
        buckets[i] = static_cast<uint8_t>(place - (size_t{1} << levels));
    }
}

template <class Lanes, int... k>
constexpr FindByLevels<typename Lanes::Key> by_levels(std::integer_sequence<int, k...>) {
    return {nullptr, find_in_lanes<Lanes, k + 1>...};
}

template <class Lanes>
constexpr FindByLevels<typename Lanes::Key> kByLevels =
    by_levels<Lanes>(std::make_integer_sequence<int, 8>());

}  // namespace

const FindByLevels<uint16_t>& find_buckets_avx512(uint16_t) { return kByLevels<Lanes16>; }
const FindByLevels<uint32_t>& find_buckets_avx512(uint32_t) { return kByLevels<Lanes32>; }
const FindByLevels<uint64_t>& find_buckets_avx512(uint64_t) { return kByLevels<Lanes64>; }

}  // namespace weft

#pragma clang attribute pop
