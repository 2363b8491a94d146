#include "core/bit_generator.h"

#include <algorithm>
#include <bit>
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
Wide stepped(Wide state, Wide multiplier, Wide increment, Wide steps) {
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

// The number that a state shows: PCG64 after its step, PCG64DXSM before it.
uint64_t shown_by_pcg64(Wide state) {
    return std::rotr(high_of(state) ^ low_of(state), static_cast<int>(state >> 122));
}

uint64_t shown_by_pcg64_dxsm(Wide state) {
    uint64_t high = high_of(state);
    high ^= high >> 32;
    high *= kCheapMultiplier;
    high ^= high >> 48;
    return high * (low_of(state) | 1);
}

// A step waits for the one before it; so two go on side by side, each in steps of two.
template <class Show>
void fill_by_steps(std::span<uint64_t> out, std::array<Wide, 2> states, Wide multiplier, Wide increment,
                   const Show& show) {
    for (size_t i = 0; i < out.size(); i += states.size()) {
        for (size_t k = 0; k < states.size(); ++k) {
            out[i + k] = show(states[k]);
            states[k] = states[k] * multiplier + increment;
        }
    }
}

}  // namespace

uint64_t BitGenerator::next_pcg64() {
    const Wide state = wide(words[1], words[0]) * kMultiplier + wide(words[3], words[2]);
    words[0] = low_of(state);
    words[1] = high_of(state);
    return shown_by_pcg64(state);
}

uint64_t BitGenerator::next_pcg64_dxsm() {
    const Wide before = wide(words[1], words[0]);
    const Wide state = before * kCheapMultiplier + wide(words[3], words[2]);
    words[0] = low_of(state);
    words[1] = high_of(state);
    return shown_by_pcg64_dxsm(before);
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

void BitGenerator::advance_halves(uint64_t draws) {
    if (draws == 0) return;
    advance((draws - 1) / 2);
    for (uint64_t k = 0; k < 2 - draws % 2; ++k) next32();
}

std::optional<BitGenerator> BitGenerator::before_half() const {
    if (!has_half) return std::nullopt;
    BitGenerator before = *this;
    before.has_half = false;
    if (algorithm == BitAlgorithm::kPhilox) {
        if (used == 0) return std::nullopt;
        --before.used;
    } else {  // 2**128 steps lead back to the start
        const Wide state =
            stepped(wide(words[1], words[0]), multiplier_of(algorithm), wide(words[3], words[2]), ~Wide{0});
        before.words[0] = low_of(state);
        before.words[1] = high_of(state);
    }
    BitGenerator after = before;
    if (after.next64() >> 32 != half) return std::nullopt;
    return before;
}

std::optional<BitGenerator::Origin> BitGenerator::origin() const {
    if (algorithm != BitAlgorithm::kPhilox) return Origin{{words.begin(), words.begin() + 4}, 0};
    Origin origin{{words.begin(), words.end()}, used};
    if (used == block.size()) {
        origin.first = 0;
        for (std::size_t k = 0; k < 4 && ++origin.words[k] == 0; ++k) {
        }
    } else if (block != philox_block({words[0], words[1], words[2], words[3]}, words[4], words[5])) {
        return std::nullopt;
    }
    return origin;
}

void BitGenerator::fill(std::span<uint64_t> out) {
    size_t at = 0;
    if (algorithm == BitAlgorithm::kPhilox) {
        while (at < out.size() && (used < block.size() || out.size() - at < block.size()))
            out[at++] = next_philox();
        for (; out.size() - at >= block.size(); at += block.size()) {
            used = static_cast<uint32_t>(block.size());
            next_philox();
            std::copy(block.begin(), block.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
            used = static_cast<uint32_t>(block.size());
        }
        while (at < out.size()) out[at++] = next_philox();
        return;
    }
    const bool plain = algorithm == BitAlgorithm::kPcg64;
    const Wide multiplier = multiplier_of(algorithm), increment = wide(words[3], words[2]);
    const size_t together = out.size() / 2 * 2;
    if (together != 0) {
        std::array<Wide, 2> states{};
        Wide state = wide(words[1], words[0]), product = 1, sum = 0;
        for (Wide& each : states) {
            if (plain) state = state * multiplier + increment;
            each = state;
            if (!plain) state = state * multiplier + increment;
            product *= multiplier;
            sum = sum * multiplier + increment;
        }
        const std::span<uint64_t> head = out.first(together);
        if (plain) {
            fill_by_steps(head, states, product, sum, shown_by_pcg64);
        } else {
            fill_by_steps(head, states, product, sum, shown_by_pcg64_dxsm);
        }
        advance(together);
    }
    for (at = together; at < out.size(); ++at) out[at] = next64();
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
