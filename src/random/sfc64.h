// SFC64: Doty-Humphrey's "small fast chaotic" stream of 64-bit numbers (PractRand, 2010): three words that
// are mixed, and a counter. It does not jump.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "random/bit_generator.h"

namespace weft {

// A state is plain data: copied, kept and compared as such.
struct Sfc64 {
    std::array<uint64_t, 4> words{};  // the last one counts
    bool has_half = false;
    uint32_t half = 0;

    // Three words of a seed; the first twelve numbers are thrown away.
    static Sfc64 of_seed(std::span<const uint64_t, 3> seed) {
        Sfc64 result;
        result.words = {seed[0], seed[1], seed[2], 1};
        for (int i = 0; i < 12; ++i) result.next64();
        return result;
    }

    uint64_t next64() {
        const uint64_t sum = words[0] + words[1] + words[3]++;
        words[0] = words[1] ^ words[1] >> 11;
        words[1] = words[2] + (words[2] << 3);
        words[2] = std::rotl(words[2], 24) + sum;
        return sum;
    }
    uint32_t next32() {
        if (has_half) {
            has_half = false;
            return half;
        }
        const uint64_t word = next64();
        has_half = true;
        half = static_cast<uint32_t>(word >> 32);
        return static_cast<uint32_t>(word);
    }
    double next_double() { return to_double(next64()); }

    bool operator==(const Sfc64&) const = default;
};

}  // namespace weft
