// Streams of random 64-bit numbers, NumPy's own: PCG64 and PCG64DXSM (O'Neill, "PCG: a family of simple fast
// space-efficient statistically good algorithms for random number generation", 2014) and Philox 4x64 with ten
// rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). All of them
// jump ahead by any number of draws, so that threads share a stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

enum class BitAlgorithm : uint8_t { kPcg64, kPcg64Dxsm, kPhilox };

// In [0, 1), all bits that the type has.
constexpr double to_double(uint64_t word) {
    return static_cast<double>(static_cast<int64_t>(word >> 11)) * (1.0 / 9007199254740992.0);
}
constexpr float to_float(uint32_t half) { return static_cast<float>(half >> 8) * (1.0F / 16777216.0F); }

// A state is plain data: copied, kept and compared as such.
struct BitGenerator {
    BitAlgorithm algorithm = BitAlgorithm::kPcg64;
    // PCG: state and increment, low words first. Philox: counter and key.
    std::array<uint64_t, 6> words{};
    std::array<uint64_t, 4> block{};  // Philox: the numbers of the current counter
    uint32_t used = 4;                // of these
    // The half of a number that the next 32-bit draw takes.
    bool has_half = false;
    uint32_t half = 0;

    uint64_t next64();
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
    float next_float() { return to_float(next32()); }

    // As if so many numbers had been drawn by next64. A half that waits stays.
    void advance(uint64_t draws);
    // As if so many had been drawn by next32, where none waits.
    void advance_halves(uint64_t draws);
    // As it was before the word whose upper half waits; nothing if no half waits, or of another word.
    std::optional<BitGenerator> before_half() const;
    // The words from here on by their position, `first` being that of the next one: what the operations of
    // ops/scalar/random_bits.h take. Nothing if the state is not one that drawing gives.
    struct Origin {
        std::vector<uint64_t> words;
        int64_t first = 0;
    };
    std::optional<Origin> origin() const;
    // What next64 gives, one after another, but several at a time.
    void fill(std::span<uint64_t> out);

private:
    uint64_t next_pcg64();
    uint64_t next_pcg64_dxsm();
    uint64_t next_philox();
};

}  // namespace weft
