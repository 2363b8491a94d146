// The common part of ziggurats in lanes of AVX-512 (random/ziggurat_runs.h). Tables are read lane by lane:
// gathers are no quicker, and on processors that are mended against GDS much slower.
#include "random/ziggurat_runs.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "random/ziggurat.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)

namespace weft {

namespace {

template <class Unit, class Value>
struct Layer {
    Unit threshold;
    Value factor;
};

template <class Unit, class Value>
struct alignas(64) Layers {
    Layer<Unit, Value> layers[256];
};

template <class Unit, class Value>
constexpr Layers<Unit, Value> layers_of(const Unit (&thresholds)[256], const Value (&factors)[256]) {
    Layers<Unit, Value> result{};
    for (size_t k = 0; k < 256; ++k) result.layers[k] = {thresholds[k], factors[k]};
    return result;
}

constexpr auto kNormal = layers_of(kNormalThresholds, kNormalFactors);
constexpr auto kNormal32 = layers_of(kNormalFloatThresholds, kNormalFloatFactors);
constexpr auto kExponential = layers_of(kExponentialThresholds, kExponentialFactors);
constexpr auto kExponential32 = layers_of(kExponentialFloatThresholds, kExponentialFloatFactors);

struct Read {
    __m512i thresholds, factors;
};

inline __m128i load_pair(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

inline __m512i joined(__m128i a, __m128i b, __m128i c, __m128i d) {
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// The layers of eight words.
template <class Method>
inline Read read(const Layers<uint64_t, double>& table, const uint64_t* words) {
    const auto layer = [&](int k) { return load_pair(&table.layers[Method::layer_of(words[k])]); };
    const __m512i even = joined(layer(0), layer(2), layer(4), layer(6));
    const __m512i odd = joined(layer(1), layer(3), layer(5), layer(7));
    return {_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd)};
}

// Of sixteen halves.
template <class Method>
inline Read read(const Layers<uint32_t, float>& table, const uint32_t* halves) {
    const auto layer = [&](int k) {
        return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&table.layers[Method::layer_of(halves[k])]));
    };
    const auto pair = [&](int k) { return _mm_unpacklo_epi64(layer(k), layer(k + 1)); };
    const __m512 first = _mm512_castsi512_ps(joined(pair(0), pair(4), pair(8), pair(12)));
    const __m512 second = _mm512_castsi512_ps(joined(pair(2), pair(6), pair(10), pair(14)));
    return {_mm512_castps_si512(_mm512_shuffle_ps(first, second, 0x88)),
            _mm512_castps_si512(_mm512_shuffle_ps(first, second, 0xdd))};
}

// Writes what would be draws of so many units; gives a bit for each that is none.
inline unsigned decode(Normal, const uint64_t* words, double* out) {
    const __m512i all = _mm512_loadu_si512(words);
    const Read layers = read<Normal>(kNormal, words);
    const __m512i magnitudes = _mm512_srli_epi64(_mm512_slli_epi64(all, 3), 12);
    const __m512d values = _mm512_mul_pd(_mm512_cvtepi64_pd(magnitudes), _mm512_castsi512_pd(layers.factors));
    const __m512i signs = _mm512_and_si512(_mm512_slli_epi64(all, 55), _mm512_set1_epi64(INT64_MIN));
    _mm512_storeu_pd(out, _mm512_or_pd(values, _mm512_castsi512_pd(signs)));
    return _mm512_cmpge_epu64_mask(magnitudes, layers.thresholds);
}

inline unsigned decode(Exponential, const uint64_t* words, double* out) {
    const __m512i magnitudes = _mm512_srli_epi64(_mm512_loadu_si512(words), 11);
    const Read layers = read<Exponential>(kExponential, words);
    _mm512_storeu_pd(out, _mm512_mul_pd(_mm512_cvtepi64_pd(magnitudes), _mm512_castsi512_pd(layers.factors)));
    return _mm512_cmpge_epu64_mask(magnitudes, layers.thresholds);
}

inline unsigned decode(Normal32, const uint32_t* halves, float* out) {
    const __m512i all = _mm512_loadu_si512(halves);
    const Read layers = read<Normal32>(kNormal32, halves);
    const __m512i magnitudes = _mm512_srli_epi32(all, 9);
    const __m512 values = _mm512_mul_ps(_mm512_cvtepi32_ps(magnitudes), _mm512_castsi512_ps(layers.factors));
    const __m512i signs = _mm512_and_si512(_mm512_slli_epi32(all, 23), _mm512_set1_epi32(INT32_MIN));
    _mm512_storeu_ps(out, _mm512_or_ps(values, _mm512_castsi512_ps(signs)));
    return _mm512_cmpge_epu32_mask(magnitudes, layers.thresholds);
}

inline unsigned decode(Exponential32, const uint32_t* halves, float* out) {
    const __m512i magnitudes = _mm512_srli_epi32(_mm512_loadu_si512(halves), 9);
    const Read layers = read<Exponential32>(kExponential32, halves);
    _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_cvtepi32_ps(magnitudes), _mm512_castsi512_ps(layers.factors)));
    return _mm512_cmpge_epu32_mask(magnitudes, layers.thresholds);
}

template <class Method>
size_t run(const typename Method::Unit* units, size_t count, typename Method::Value* out) {
    constexpr size_t kLanes = 64 / sizeof(typename Method::Unit);
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        const unsigned refused = decode(Method{}, units + i, out + i);
        if (refused != 0) return i + static_cast<size_t>(__builtin_ctz(refused));
    }
    while (i < count && Method::takes(units[i], out[i])) ++i;
    return i;
}

}  // namespace

const ZigguratRuns& ziggurat_runs_in_lanes() {
    static constexpr ZigguratRuns kRuns = {run<Normal>, run<Exponential>, run<Normal32>, run<Exponential32>};
    return kRuns;
}

}  // namespace weft

#pragma clang attribute pop

#endif
