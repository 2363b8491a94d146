// Where distributions take their bits from: a state, and functions that give its next numbers. The layout is
// that of NumPy's C interface to bit generators (numpy/random/bitgen.h), so that NumPy's Generator, SciPy and
// Numba draw from weft's streams, and weft draws from those of others.
#pragma once

#include <cstdint>

#include "random/bit_generator.h"
#include "random/mersenne_twister.h"
#include "random/sfc64.h"
#include "random/stream_steps.h"

namespace weft {

struct BitSource {
    void* state = nullptr;
    uint64_t (*next_uint64)(void* state) = nullptr;
    uint32_t (*next_uint32)(void* state) = nullptr;
    double (*next_double)(void* state) = nullptr;
    uint64_t (*next_raw)(void* state) = nullptr;
};

// Of a stream that stays where it is.
BitSource source_of(BitGenerator& generator);
BitSource source_of(Mt19937& twister);
BitSource source_of(Sfc64& stream);
// The stream behind a source; null if it is of another kind.
BitGenerator* generator_of(const BitSource& source);
Mt19937* twister_of(const BitSource& source);
Sfc64* sfc64_of(const BitSource& source);

// The second normal number of a pair, which waits for the next call (RandomState's has_gauss and gauss).
struct SpareNormal {
    bool waits = false;
    double value = 0;
};

// What a distribution draws from: a source, whose most common streams are not asked by a pointer.
class Bits {
public:
    explicit Bits(const BitSource& source, SpareNormal* spare = nullptr)
        : source_(source), twister_(twister_of(source)), spare_(spare) {
        BitGenerator* generator = generator_of(source);
        if (generator != nullptr && generator->algorithm == BitAlgorithm::kPcg64) pcg64_ = generator;
    }

    uint64_t next64() {
        if (pcg64_ != nullptr) return next_pcg64();
        if (twister_ != nullptr) return twister_->next64();
        return source_.next_uint64(source_.state);
    }
    uint32_t next32() {
        if (twister_ != nullptr) return twister_->next32();
        if (pcg64_ != nullptr) return next_half_of_pcg64();
        return source_.next_uint32(source_.state);
    }
    double next_double() {
        if (pcg64_ != nullptr) return to_double(next_pcg64());
        if (twister_ != nullptr) return twister_->next_double();
        return source_.next_double(source_.state);
    }
    float next_float() { return to_float(next32()); }
    SpareNormal* spare() { return spare_; }  // null but for the distributions of RandomState
    Mt19937* twister() { return twister_; }  // null if it is none
    uint64_t next_raw() { return source_.next_raw(source_.state); }

private:
    uint64_t next_pcg64() {
        auto& words = pcg64_->words;
        const Wide state = wide(words[1], words[0]) * Pcg64::kMultiplier + wide(words[3], words[2]);
        words[0] = low_of(state);
        words[1] = high_of(state);
        return Pcg64::shown(state);
    }

    uint32_t next_half_of_pcg64() {
        if (pcg64_->has_half) {
            pcg64_->has_half = false;
            return pcg64_->half;
        }
        const uint64_t word = next_pcg64();
        pcg64_->has_half = true;
        pcg64_->half = static_cast<uint32_t>(word >> 32);
        return static_cast<uint32_t>(word);
    }

    BitSource source_;
    BitGenerator* pcg64_ = nullptr;
    Mt19937* twister_ = nullptr;
    SpareNormal* spare_ = nullptr;
};

}  // namespace weft
