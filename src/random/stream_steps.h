// What a step of a stream is (random/bit_generator.h), and the number that it gives.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace weft {

using Wide = unsigned __int128;

constexpr Wide wide(uint64_t high, uint64_t low) { return Wide{high} << 64 | low; }
constexpr uint64_t high_of(Wide value) { return static_cast<uint64_t>(value >> 64); }
constexpr uint64_t low_of(Wide value) { return static_cast<uint64_t>(value); }

// A step of PCG is state * kMultiplier + increment.
struct Pcg64 {
    static constexpr Wide kMultiplier = wide(0x2360ed051fc65da4, 0x4385df649fccf645);
    static constexpr bool kShowsAfterStep = true;  // the number is that of the state after the step
    static constexpr uint64_t shown(Wide state) {
        return std::rotr(high_of(state) ^ low_of(state), static_cast<int>(state >> 122));
    }
};

struct Pcg64Dxsm {
    static constexpr uint64_t kCheapMultiplier = 0xda942042e4dd58b5;
    static constexpr Wide kMultiplier = kCheapMultiplier;
    static constexpr bool kShowsAfterStep = false;
    static constexpr uint64_t shown(Wide state) {
        uint64_t high = high_of(state);
        high ^= high >> 32;
        high *= kCheapMultiplier;
        high ^= high >> 48;
        return high * (low_of(state) | 1);
    }
};

// What so many steps of PCG multiply the state by, and how often they add the increment.
struct PcgSteps {
    Wide product = 1, sum = 0;
};

template <class Stream>
constexpr PcgSteps pcg_steps(unsigned steps) {
    PcgSteps result;
    for (unsigned k = 0; k < steps; ++k) {
        result.sum = result.sum * Stream::kMultiplier + 1;
        result.product *= Stream::kMultiplier;
    }
    return result;
}

struct Philox {
    static constexpr int kRounds = 10;
    using Block = std::array<uint64_t, 4>;
    using Keys = std::array<std::array<uint64_t, 2>, kRounds>;

    static constexpr Keys keys(uint64_t key0, uint64_t key1) {
        Keys result{};
        for (auto& key : result) {
            key = {key0, key1};
            key0 += 0x9e3779b97f4a7c15;
            key1 += 0xbb67ae8584caa73b;
        }
        return result;
    }

    [[gnu::always_inline]] static constexpr Block block(Block counter, const Keys& keys) {
#pragma clang loop unroll(full)
        for (const auto& key : keys) {
            const Wide first = Wide{0xd2e7470ee14c6c93} * counter[0];
            const Wide second = Wide{0xca5a826395121157} * counter[2];
            counter = {high_of(second) ^ counter[1] ^ key[0], low_of(second),
                       high_of(first) ^ counter[3] ^ key[1], low_of(first)};
        }
        return counter;
    }

    // The counter is a number of 256 bits.
    static constexpr void add(uint64_t* counter, uint64_t more) {
        for (int k = 0; k < 4 && more != 0; ++k) {
            counter[k] += more;
            more = counter[k] < more ? 1 : 0;
        }
    }
};

}  // namespace weft
