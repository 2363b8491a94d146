// Words of PCG in lanes of AVX-512 with IFMA and VBMI2 (random/stream_words.h).
#include "random/stream_words.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "random/stream_steps.h"

#pragma clang attribute push(                                                                  \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi2,bmi2"))), \
    apply_to = function)

namespace weft {

namespace {

// Numbers of 128 bits, one a lane: three limbs of 52, 52 and 24 bits. What a limb has beyond 52 bits no
// product looks at, so that carries are added to the next limb without being taken away.
constexpr int kLimbs = 3, kLanes = 8, kVectors = 2;
constexpr size_t kTogether = size_t{kLanes} * kVectors;
constexpr uint64_t kLimbMask = (uint64_t{1} << 52) - 1;

constexpr uint64_t limb(Wide value, int index) { return low_of(value >> (52 * index)) & kLimbMask; }

struct Number {
    __m512i limbs[kLimbs];
};

inline Number same_in_all(Wide value) {
    Number number;
    for (int k = 0; k < kLimbs; ++k)
        number.limbs[k] = _mm512_set1_epi64(static_cast<long long>(limb(value, k)));
    return number;
}

// sum + a * b, without the carries.
inline Number multiply_add(Number sum, const Number& a, const Number& b) {
    for (int i = 0; i < kLimbs; ++i) {
        for (int j = 0; i + j < kLimbs; ++j) {
            __m512i& low = sum.limbs[i + j];
            low = _mm512_madd52lo_epu64(low, a.limbs[i], b.limbs[j]);
            if (i + j + 1 == kLimbs) continue;
            __m512i& high = sum.limbs[i + j + 1];
            high = _mm512_madd52hi_epu64(high, a.limbs[i], b.limbs[j]);
        }
    }
    return sum;
}

inline void carry(Number& number) {
    for (int k = 1; k < kLimbs; ++k)
        number.limbs[k] = _mm512_add_epi64(number.limbs[k], _mm512_srli_epi64(number.limbs[k - 1], 52));
}

inline __m512i low_half(const Number& number) {
    return _mm512_shldi_epi64(number.limbs[1], _mm512_slli_epi64(number.limbs[0], 12), 52);
}
inline __m512i high_half(const Number& number) {
    return _mm512_shldi_epi64(number.limbs[2], _mm512_slli_epi64(number.limbs[1], 12), 40);
}

template <class Stream>
__m512i shown(const Number& state);

template <>
inline __m512i shown<Pcg64>(const Number& state) {
    return _mm512_rorv_epi64(_mm512_xor_si512(high_half(state), low_half(state)),
                             _mm512_srli_epi64(state.limbs[2], 18));
}

template <>
inline __m512i shown<Pcg64Dxsm>(const Number& state) {
    __m512i high = high_half(state);
    high = _mm512_xor_si512(high, _mm512_srli_epi64(high, 32));
    high = _mm512_mullo_epi64(high, _mm512_set1_epi64(static_cast<long long>(Pcg64Dxsm::kCheapMultiplier)));
    high = _mm512_xor_si512(high, _mm512_srli_epi64(high, 48));
    return _mm512_mullo_epi64(high, _mm512_or_si512(low_half(state), _mm512_set1_epi64(1)));
}

// The steps to the state that a lane's first word shows.
struct alignas(64) FirstSteps {
    uint64_t product[kVectors][kLimbs][kLanes];
    uint64_t sum[kVectors][kLimbs][kLanes];
};

template <class Stream>
constexpr FirstSteps first_steps() {
    FirstSteps result{};
    for (int v = 0; v < kVectors; ++v) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const int word = v * kLanes + lane;
            const PcgSteps steps =
                pcg_steps<Stream>(static_cast<unsigned>(word + (Stream::kShowsAfterStep ? 1 : 0)));
            for (int k = 0; k < kLimbs; ++k) {
                result.product[v][k][lane] = limb(steps.product, k);
                result.sum[v][k][lane] = limb(steps.sum, k);
            }
        }
    }
    return result;
}

inline Number load(const uint64_t (&limbs)[kLimbs][kLanes]) {
    return {_mm512_load_si512(limbs[0]), _mm512_load_si512(limbs[1]), _mm512_load_si512(limbs[2])};
}

template <class Stream>
inline void make_words(uint64_t* out, size_t count, uint64_t* words) {
    static constexpr FirstSteps kFirst = first_steps<Stream>();
    constexpr PcgSteps kSteps = pcg_steps<Stream>(kTogether);
    if (count == 0) return;
    const Wide increment = wide(words[3], words[2]);
    Number states[kVectors];
    {
        const Number start = same_in_all(wide(words[1], words[0])), each = same_in_all(increment);
        for (int v = 0; v < kVectors; ++v) {
            states[v] =
                multiply_add(multiply_add({}, load(kFirst.product[v]), start), load(kFirst.sum[v]), each);
            carry(states[v]);
        }
    }
    const Number product = same_in_all(kSteps.product), sum = same_in_all(kSteps.sum * increment);
    size_t left = count;
    for (; left > kTogether; left -= kTogether) {
        for (Number& state : states) {
            _mm512_storeu_si512(out, shown<Stream>(state));
            out += kLanes;
            state = multiply_add(sum, state, product);
            carry(state);
        }
    }
    for (int v = 0; v < kVectors; ++v)
        _mm512_mask_storeu_epi64(out + v * kLanes, static_cast<__mmask8>(((1U << left) - 1) >> (v * kLanes)),
                                 shown<Stream>(states[v]));
    // The state of the last word.
    alignas(64) uint64_t limbs[kLimbs][kLanes];
    const size_t last = left - 1;
    for (int k = 0; k < kLimbs; ++k) _mm512_store_si512(limbs[k], states[last / kLanes].limbs[k]);
    Wide state = 0;
    for (int k = 0; k < kLimbs; ++k) state += Wide{limbs[k][last % kLanes] & kLimbMask} << (52 * k);
    if (!Stream::kShowsAfterStep) state = state * Stream::kMultiplier + increment;
    words[0] = low_of(state);
    words[1] = high_of(state);
}

}  // namespace

void pcg64_by_lanes(uint64_t* out, size_t count, uint64_t* state) { make_words<Pcg64>(out, count, state); }
void pcg64_dxsm_by_lanes(uint64_t* out, size_t count, uint64_t* state) {
    make_words<Pcg64Dxsm>(out, count, state);
}

}  // namespace weft

#pragma clang attribute pop

#endif
