#include "core/bit_generator.h"

#include <cstddef>

namespace weft {

namespace {

using Wide = unsigned __int128;

constexpr Wide wide(uint64_t high, uint64_t low) { return Wide{high} << 64 | low; }
constexpr uint64_t high_of(Wide value) { return static_cast<uint64_t>(value >> 64); }
constexpr uint64_t low_of(Wide value) { return static_cast<uint64_t>(value); }

constexpr Wide kMultiplier = wide(0x2360ed051fc65da4, 0x4385df649fccf645);
constexpr uint64_t kCheapMultiplier = 0xda942042e4dd58b5;

Wide multiplier_of(BitAlgorithm algorithm) {
    return algorithm == BitAlgorithm::kPcg64 ? kMultiplier : Wide{kCheapMultiplier};
}

// The state after `steps` steps of state * multiplier + increment, by squaring (Brown, "Random number
// generation with arbitrary strides", 1994).
Wide stepped(Wide state, Wide multiplier, Wide increment, uint64_t steps) {
    Wide product = 1, sum = 0;
    for (; steps != 0; steps >>= 1) {
        if ((steps & 1) != 0) {
            product *= multiplier;
            sum = sum * multiplier + increment;
        }
        increment = (multiplier + 1) * increment;
        multiplier *= multiplier;
    }
    return product * state + sum;
}

std::array<uint64_t, 4> philox_block(std::array<uint64_t, 4> counter, uint64_t key0, uint64_t key1) {
    for (int round = 0; round < 10; ++round) {
        const Wide first = Wide{0xd2e7470ee14c6c93} * counter[0];
        const Wide second = Wide{0xca5a826395121157} * counter[2];
        counter = {high_of(second) ^ counter[1] ^ key0, low_of(second), high_of(first) ^ counter[3] ^ key1,
                   low_of(first)};
        key0 += 0x9e3779b97f4a7c15;
        key1 += 0xbb67ae8584caa73b;
    }
    return counter;
}

}  // namespace

uint64_t BitGenerator::next_pcg64() {
    const Wide state = wide(words[1], words[0]) * kMultiplier + wide(words[3], words[2]);
    words[0] = low_of(state);
    words[1] = high_of(state);
    const uint64_t folded = words[1] ^ words[0];
    const unsigned turn = static_cast<unsigned>(words[1] >> 58);
    return folded >> turn | folded << ((64 - turn) & 63);
}

uint64_t BitGenerator::next_pcg64_dxsm() {
    uint64_t high = words[1];
    const uint64_t low = words[0] | 1;
    high ^= high >> 32;
    high *= kCheapMultiplier;
    high ^= high >> 48;
    high *= low;
    const Wide state = wide(words[1], words[0]) * kCheapMultiplier + wide(words[3], words[2]);
    words[0] = low_of(state);
    words[1] = high_of(state);
    return high;
}

uint64_t BitGenerator::next_philox() {
    if (used < block.size()) return block[used++];
    for (std::size_t k = 0; k < 4 && ++words[k] == 0; ++k) {
    }
    block = philox_block({words[0], words[1], words[2], words[3]}, words[4], words[5]);
    used = 1;
    return block[0];
}

uint64_t BitGenerator::next64() {
    switch (algorithm) {
        case BitAlgorithm::kPcg64: return next_pcg64();
        case BitAlgorithm::kPcg64Dxsm: return next_pcg64_dxsm();
        case BitAlgorithm::kPhilox: break;
    }
    return next_philox();
}

void BitGenerator::advance(uint64_t draws) {
    if (algorithm != BitAlgorithm::kPhilox) {
        const Wide state =
            stepped(wide(words[1], words[0]), multiplier_of(algorithm), wide(words[3], words[2]), draws);
        words[0] = low_of(state);
        words[1] = high_of(state);
        return;
    }
    const uint64_t here = block.size() - used;
    if (draws <= here) {
        used += static_cast<uint32_t>(draws);
        return;
    }
    draws -= here;
    // All but the last block are passed over; it is made even where it is used up.
    uint64_t carry = (draws - 1) / 4;
    for (std::size_t k = 0; k < 4 && carry != 0; ++k) {
        words[k] += carry;
        carry = words[k] < carry ? 1 : 0;
    }
    used = 4;
    next_philox();
    used = static_cast<uint32_t>((draws - 1) % 4 + 1);
}

}  // namespace weft
