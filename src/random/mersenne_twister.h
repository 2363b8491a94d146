// MT19937: Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform
// pseudo-random number generator", 1998. Its state is 624 words of 32 bits, which are made anew together. It
// jumps by 2**128 words only.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace weft {

// A state is plain data: copied, kept and compared as such.
struct Mt19937 {
    static constexpr int kWords = 624;
    static constexpr int kShift = 397;

    std::array<uint32_t, kWords> key{};
    int32_t pos = kWords;  // how many of them are used up

    // As the reference implementation starts from one number (Knuth, TAOCP 2, 3rd edition, page 106), and
    // from several.
    void seed(uint32_t number);
    void seed(std::span<const uint32_t> numbers);  // at least one
    // The words themselves; of the first one only the top bit counts, which is set.
    void start(std::span<const uint32_t, kWords> words);

    uint32_t next32() {
        if (pos >= kWords) refill();
        return tempered(key[static_cast<size_t>(pos++)]);
    }
    uint64_t next64() {
        const uint64_t high = next32();
        return high << 32 | next32();
    }
    double next_double() {
        const uint32_t high = next32() >> 5;
        const uint32_t low = next32() >> 6;
        return (high * 67108864.0 + low) / 9007199254740992.0;
    }
    // What next_double gives, one after another.
    void fill(std::span<double> out);

    // As if 2**128 words had been drawn.
    void jump();

    bool operator==(const Mt19937&) const = default;

private:
    static constexpr uint32_t tempered(uint32_t word) {
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c5680;
        word ^= word << 15 & 0xefc60000;
        return word ^ word >> 18;
    }
    void refill();
    void step();
};

}  // namespace weft
