// Random streams (random/bit_generator.h) for the warps of a GPU: the words of a row, one for each lane, row
// after row, and from any of them on one after another.
#pragma once

#include <cstdint>

#include "random/stream_steps.h"  // before threads.h: the standard library is not for GPUs

#include "library/gpu/threads.h"
#include "library/random/cuda/kernel_arguments.h"

namespace weft::gpu {

// What so many steps multiply a state by, and how often they add the increment.
struct alignas(16) Jump {
    uint64_t product_low, product_high, sum_low, sum_high;
    Wide product() const { return wide(product_high, product_low); }
    Wide sum() const { return wide(sum_high, sum_low); }
};

// By 2048 words times a digit of eight bits, and by words up to 2048 or every eighth row of them.
constexpr uint32_t kJumpWords = 2048, kJumpDigits = 3;
struct FarJumps {
    Jump jumps[kJumpDigits][256];
};
template <uint32_t kOfWarp>
struct NearJumps {
    Jump jumps[kDrawThreads];
};

constexpr Jump jump_of(PcgSteps steps) {
    return {low_of(steps.product), high_of(steps.product), low_of(steps.sum), high_of(steps.sum)};
}
constexpr PcgSteps joined(PcgSteps first, PcgSteps then) {
    return {first.product * then.product, first.sum * then.product + then.sum};
}

template <class Step>
constexpr FarJumps far_jumps() {
    FarJumps table{};
    PcgSteps one = pcg_steps<Step>(kJumpWords);
    for (auto& digit : table.jumps) {
        PcgSteps steps;
        for (Jump& jump : digit) {
            jump = jump_of(steps);
            steps = joined(steps, one);
        }
        one = steps;
    }
    return table;
}

// To the first word of each thread of a block, whose warps have so many words each.
template <class Step, uint32_t kOfWarp>
constexpr NearJumps<kOfWarp> near_jumps() {
    NearJumps<kOfWarp> table{};
    const PcgSteps one = pcg_steps<Step>(1), of_warp = pcg_steps<Step>(kOfWarp);
    PcgSteps begin;
    for (uint32_t thread = 0; thread < kDrawThreads;) {
        PcgSteps steps = begin;
        for (uint32_t lane = 0; lane < kWarp; ++lane, ++thread) {
            table.jumps[thread] = jump_of(steps);
            steps = joined(steps, one);
        }
        begin = joined(begin, of_warp);
    }
    return table;
}

template <class Step>
WEFT_GPU_TABLE FarJumps kFarJumps = far_jumps<Step>();
template <class Step, uint32_t kOfWarp>
WEFT_GPU_TABLE NearJumps<kOfWarp> kNearJumps = near_jumps<Step, kOfWarp>();

// A place in a stream: word() is there, next() goes on by one.
template <class Step>
class PcgPlace {
public:
    PcgPlace(const DrawArguments& words, Wide state)
        : state_(state), increment_(wide(words.stream[5], words.stream[4])) {}
    uint64_t word() const { return Step::shown(state_); }
    void next() { state_ = state_ * Step::kMultiplier + increment_; }

private:
    Wide state_, increment_;
};

// The words of a warp: kRows for each lane. `kOfBlock` are its block's, of which it has a part.
template <class Step, uint32_t kRows>
class PcgRows {
public:
    using Place = PcgPlace<Step>;
    // What of a word is kept to go on from there.
    using Kept = Wide;
    struct Memory {};

    PcgRows(const DrawArguments& words, uint32_t tile, Memory&)
        : words_(words), row_increment_(wide(words.stream[7], words.stream[6])) {
        constexpr uint32_t kOfWarp = kRows * kWarp, kOfBlock = kOfWarp * (kDrawThreads / kWarp);
        static_assert(kOfBlock % kJumpWords == 0);
        const uint32_t far = tile * (kOfBlock / kJumpWords);
        const auto& jumps = kFarJumps<Step>.jumps;
        Wide sum = jumps[1][far >> 8 & 0xff].sum();
        if (far >> 16 != 0) sum = after(jumps[1][far >> 8 & 0xff], jumps[2][far >> 16].sum());
        sum = after(jumps[0][far & 0xff], sum);
        sum = after(kNearJumps<Step, kOfWarp>.jumps[thread()], sum);
        state_ = wide(words.stream[1], words.stream[0]) + sum * wide(words.stream[3], words.stream[2]);
    }

    // use(row, word, kept) of each row; all lanes take part.
    template <class Use>
    void each(const Use& use) {
        constexpr Wide kProduct = pcg_steps<Step>(kWarp).product;
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row) {
            use(row, Step::shown(state_), state_);
            state_ = state_ * kProduct + row_increment_;
        }
    }

    // `position`: of the word among those of the warp.
    Place from(Kept kept, uint32_t position) const {
        (void)position;
        return Place(words_, kept);
    }

private:
    static Wide after(const Jump& jump, Wide sum) { return sum * jump.product() + jump.sum(); }
    const DrawArguments& words_;
    Wide state_, row_increment_;
};

inline Philox::Block philox_block(const DrawArguments& words, uint64_t number) {
    Philox::Block counter{words.stream[0], words.stream[1], words.stream[2], words.stream[3]};
    counter[0] += number;
    uint64_t carry = counter[0] < number ? 1 : 0;
#pragma unroll
    for (int k = 1; k < 4; ++k) {
        counter[k] += carry;
        carry = counter[k] < carry ? 1 : 0;
    }
    return Philox::block(counter, Philox::keys(words.stream[4], words.stream[5]));
}

class PhiloxPlace {
public:
    PhiloxPlace(const DrawArguments& words, uint64_t word, uint64_t position)
        : words_(words), word_(word), position_(position) {}
    uint64_t word() const { return word_; }
    void next() {
        ++position_;
        const Philox::Block block = philox_block(words_, position_ / 4);
        const uint64_t low = (position_ & 1) != 0 ? block[1] : block[0];
        const uint64_t high = (position_ & 1) != 0 ? block[3] : block[2];
        word_ = (position_ & 2) != 0 ? high : low;
    }

private:
    const DrawArguments& words_;
    uint64_t word_, position_;
};

// A lane makes four words that are next to each other, which become rows in the block's memory.
template <uint32_t kRows>
class PhiloxRows {
public:
    using Place = PhiloxPlace;
    using Kept = uint64_t;
    struct Memory {
        alignas(16) uint64_t words[kDrawThreads / kWarp][4 * kWarp];
    };

    PhiloxRows(const DrawArguments& words, uint32_t tile, Memory& memory)
        : words_(words),
          position_((uint64_t{tile} * (kDrawThreads / kWarp) + warp()) * kRows * kWarp),
          memory_(memory.words[warp()]) {}

    template <class Use>
    void each(const Use& use) {
        static_assert(kRows % 4 == 0);
#pragma unroll
        for (uint32_t row = 0; row < kRows; row += 4) {
            const Philox::Block block = philox_block(words_, position_ / 4 + row / 4 * kWarp + lane());
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) memory_[4 * lane() + k] = block[k];
            warp_barrier();
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                const uint64_t word = memory_[k * kWarp + lane()];
                use(row + k, word, word);
            }
            warp_barrier();
        }
    }

    Place from(Kept kept, uint32_t position) const { return Place(words_, kept, position_ + position); }

private:
    const DrawArguments& words_;
    uint64_t position_;
    uint64_t* memory_;
};

}  // namespace weft::gpu
