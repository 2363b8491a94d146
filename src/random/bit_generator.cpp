#include "random/bit_generator.h"

#include <algorithm>

#include "random/stream_steps.h"
#include "random/stream_words.h"

namespace weft {

namespace {

Wide multiplier_of(BitAlgorithm algorithm) {
    return algorithm == BitAlgorithm::kPcg64 ? Pcg64::kMultiplier : Pcg64Dxsm::kMultiplier;
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

Philox::Block block_of(const std::array<uint64_t, 6>& words) {
    Philox::Block block{};
    word_functions().philox(block.data(), 1, words.data(), words.data() + 4);
    return block;
}

}  // namespace

uint64_t BitGenerator::next_pcg64() {
    const Wide state = wide(words[1], words[0]) * Pcg64::kMultiplier + wide(words[3], words[2]);
    words[0] = low_of(state);
    words[1] = high_of(state);
    return Pcg64::shown(state);
}

uint64_t BitGenerator::next_pcg64_dxsm() {
    const Wide before = wide(words[1], words[0]);
    const Wide state = before * Pcg64Dxsm::kMultiplier + wide(words[3], words[2]);
    words[0] = low_of(state);
    words[1] = high_of(state);
    return Pcg64Dxsm::shown(before);
}

uint64_t BitGenerator::next_philox() {
    if (used < block.size()) return block[used++];
    Philox::add(words.data(), 1);
    block = block_of(words);
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
        Philox::add(origin.words.data(), 1);
    } else if (block != block_of(words)) {
        return std::nullopt;
    }
    return origin;
}

void BitGenerator::fill(std::span<uint64_t> out) {
    const WordFunctions& functions = word_functions();
    if (algorithm != BitAlgorithm::kPhilox) {
        const auto fill_words = algorithm == BitAlgorithm::kPcg64 ? functions.pcg64 : functions.pcg64_dxsm;
        fill_words(out.data(), out.size(), words.data());
        return;
    }
    size_t at = 0;
    while (at < out.size() && used < block.size()) out[at++] = next_philox();
    if (const size_t blocks = (out.size() - at) / block.size()) {
        Philox::add(words.data(), 1);
        functions.philox(out.data() + at, blocks, words.data(), words.data() + 4);
        Philox::add(words.data(), blocks - 1);
        at += blocks * block.size();
        std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(at - block.size()), block.size(),
                    block.begin());
    }
    while (at < out.size()) out[at++] = next_philox();
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
    Philox::add(words.data(), (draws - 1) / 4);
    used = 4;
    next_philox();
    used = static_cast<uint32_t>((draws - 1) % 4 + 1);
}

}  // namespace weft
