// Words of random streams by their position, for kernels that draw as many numbers as they have elements:
// PCG64, PCG64DXSM and Philox as random/bit_generator.h says. A word is 64 bits, a half the lower or upper 32
// of one.
//
// PCG's state is multiplied and added to at each step; n steps are one product and one sum, whose factors are
// multiplied up from a table by digits of n. On GPUs digits are larger, and only the sum is made: n steps
// change the state by what the first of them does, times the sum.
#pragma once

#include <cstdint>

#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

using Wide = unsigned __int128;

inline constexpr Wide wide(uint64_t high, uint64_t low) { return Wide{high} << 64 | low; }

inline uint64_t rotated_right(uint64_t value, unsigned count) {
    return value >> count | value << (-count & 63);
}

struct Pcg64 {
    static constexpr Wide kMultiplier = wide(0x2360ed051fc65da4, 0x4385df649fccf645);
    static constexpr uint64_t kFirstStep = 1;  // a word shows the state after its step
    static uint64_t show(Wide state) {
        const auto high = static_cast<uint64_t>(state >> 64);
        return rotated_right(high ^ static_cast<uint64_t>(state), static_cast<unsigned>(high >> 58));
    }
};

struct Pcg64Dxsm {
    static constexpr uint64_t kCheapMultiplier = 0xda942042e4dd58b5;
    static constexpr Wide kMultiplier = kCheapMultiplier;
    static constexpr uint64_t kFirstStep = 0;
    static uint64_t show(Wide state) {
        auto high = static_cast<uint64_t>(state >> 64);
        high ^= high >> 32;
        high *= kCheapMultiplier;
        high ^= high >> 48;
        return high * (static_cast<uint64_t>(state) | 1);
    }
};

// What so many steps multiply the state by, and how many times they add the increment.
struct Jump {
    uint64_t product_low, product_high, sum_low, sum_high;
};
#ifdef __NVPTX__
constexpr unsigned kJumpBits = 6;
constexpr unsigned kJumpDigits = 6;
#else
constexpr unsigned kJumpBits = 4;
constexpr unsigned kJumpDigits = 64 / kJumpBits;
#endif
struct alignas(64) JumpTable {
    Jump jumps[kJumpDigits][1U << kJumpBits];
};

constexpr JumpTable jump_table(Wide multiplier) {
    JumpTable table{};
    Wide step = multiplier, steps_sum = 1;  // of 2**(kJumpBits * digit) steps
    for (unsigned digit = 0; digit < kJumpDigits; ++digit) {
        Wide product = 1, sum = 0;
        for (Jump& jump : table.jumps[digit]) {
            jump = {static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64),
                    static_cast<uint64_t>(sum), static_cast<uint64_t>(sum >> 64)};
            sum = sum * step + steps_sum;
            product *= step;
        }
        step = product;
        steps_sum = sum;
    }
    return table;
}

template <class Stream>
inline constexpr JumpTable kJumps = jump_table(Stream::kMultiplier);

#ifdef __NVPTX__
constexpr unsigned kNearBits = kJumpBits * kJumpDigits;

// How many times `steps` times 2**kNearBits steps add the increment.
template <class Stream>
inline Wide far_sum(uint64_t steps) {
    const Jump& last = kJumps<Stream>.jumps[kJumpDigits - 1][(1U << kJumpBits) - 1];
    const Jump& one = kJumps<Stream>.jumps[kJumpDigits - 1][1];
    Wide product = wide(last.product_high, last.product_low) * wide(one.product_high, one.product_low);
    Wide once = wide(last.sum_high, last.sum_low) * wide(one.product_high, one.product_low) +
                wide(one.sum_high, one.sum_low);
    Wide sum = 0;
    for (; steps != 0; steps >>= 1) {
        if ((steps & 1) != 0) sum = sum * product + once;
        once += once * product;
        product *= product;
    }
    return sum;
}
#endif

// The state that shows the word at `position`.
template <class Stream>
inline Wide state_at(uint64_t position, Wide state, Wide increment) {
    uint64_t steps = position + Stream::kFirstStep;
#ifdef __NVPTX__
    const auto jump = [&](unsigned digit) -> const Jump& {
        return kJumps<Stream>.jumps[digit][steps >> (digit * kJumpBits) & ((1U << kJumpBits) - 1)];
    };
    const auto after = [](const Jump& first, Wide sum) {
        return sum * wide(first.product_high, first.product_low) + wide(first.sum_high, first.sum_low);
    };
    Wide sum = wide(jump(kJumpDigits - 1).sum_high, jump(kJumpDigits - 1).sum_low);
    if (steps >> kNearBits != 0) sum = after(jump(kJumpDigits - 1), far_sum<Stream>(steps >> kNearBits));
#pragma clang loop unroll(full)
    for (unsigned digit = kJumpDigits - 1; digit-- > 0;) sum = after(jump(digit), sum);
    return state + sum * (state * (Stream::kMultiplier - 1) + increment);
#else
    for (unsigned digit = 0; steps != 0; ++digit) {
        const Jump& jump = kJumps<Stream>.jumps[digit][steps & ((1U << kJumpBits) - 1)];
        state =
            state * wide(jump.product_high, jump.product_low) + increment * wide(jump.sum_high, jump.sum_low);
        steps >>= kJumpBits;
    }
    return state;
#endif
}

inline uint32_t half_of(uint64_t word, int64_t position) {
    return static_cast<uint32_t>(word >> ((position & 1) * 32));
}

inline void pcg64_state(int64_t position, uint64_t low, uint64_t high, uint64_t inc_low, uint64_t inc_high,
                        uint64_t& state_low, uint64_t& state_high) {
    const Wide state =
        state_at<Pcg64>(static_cast<uint64_t>(position), wide(high, low), wide(inc_high, inc_low));
    state_low = static_cast<uint64_t>(state);
    state_high = static_cast<uint64_t>(state >> 64);
}
inline uint64_t pcg64_word(int64_t position, uint64_t low, uint64_t high, uint64_t inc_low,
                           uint64_t inc_high) {
    return Pcg64::show(
        state_at<Pcg64>(static_cast<uint64_t>(position), wide(high, low), wide(inc_high, inc_low)));
}
inline uint32_t pcg64_half(int64_t position, uint64_t low, uint64_t high, uint64_t inc_low,
                           uint64_t inc_high) {
    return half_of(pcg64_word(position >> 1, low, high, inc_low, inc_high), position);
}

inline void pcg64dxsm_state(int64_t position, uint64_t low, uint64_t high, uint64_t inc_low,
                            uint64_t inc_high, uint64_t& state_low, uint64_t& state_high) {
    const Wide state =
        state_at<Pcg64Dxsm>(static_cast<uint64_t>(position), wide(high, low), wide(inc_high, inc_low));
    state_low = static_cast<uint64_t>(state);
    state_high = static_cast<uint64_t>(state >> 64);
}
inline uint64_t pcg64dxsm_word(int64_t position, uint64_t low, uint64_t high, uint64_t inc_low,
                               uint64_t inc_high) {
    return Pcg64Dxsm::show(
        state_at<Pcg64Dxsm>(static_cast<uint64_t>(position), wide(high, low), wide(inc_high, inc_low)));
}
inline uint32_t pcg64dxsm_half(int64_t position, uint64_t low, uint64_t high, uint64_t inc_low,
                               uint64_t inc_high) {
    return half_of(pcg64dxsm_word(position >> 1, low, high, inc_low, inc_high), position);
}

// The counter's block of four words holds position 0.
inline uint64_t philox_word(int64_t position, uint64_t counter0, uint64_t counter1, uint64_t counter2,
                            uint64_t counter3, uint64_t key0, uint64_t key1) {
    uint64_t c0 = counter0 + static_cast<uint64_t>(position >> 2);
    uint64_t carry = c0 < counter0;
    uint64_t c1 = counter1 + carry;
    carry &= static_cast<uint64_t>(c1 == 0);
    uint64_t c2 = counter2 + carry;
    carry &= static_cast<uint64_t>(c2 == 0);
    uint64_t c3 = counter3 + carry;
#pragma clang loop unroll(full)
    for (int round = 0; round < 10; ++round) {
        const Wide first = Wide{0xd2e7470ee14c6c93} * c0, second = Wide{0xca5a826395121157} * c2;
        c0 = static_cast<uint64_t>(second >> 64) ^ c1 ^ key0;
        c1 = static_cast<uint64_t>(second);
        c2 = static_cast<uint64_t>(first >> 64) ^ c3 ^ key1;
        c3 = static_cast<uint64_t>(first);
        key0 += 0x9e3779b97f4a7c15;
        key1 += 0xbb67ae8584caa73b;
    }
    const uint64_t low = (position & 1) != 0 ? c1 : c0, high = (position & 1) != 0 ? c3 : c2;
    return (position & 2) != 0 ? high : low;
}
inline uint32_t philox_half(int64_t position, uint64_t counter0, uint64_t counter1, uint64_t counter2,
                            uint64_t counter3, uint64_t key0, uint64_t key1) {
    return half_of(philox_word(position >> 1, counter0, counter1, counter2, counter3, key0, key1), position);
}

// In [0, 1). 53 bits are two integers that float64 holds, one of them in units of 2**21.
inline double unit_interval(uint64_t word) {
    const auto high = bit_cast<double>(0x4480000000000000U | word >> 32) - (0x1p73 + 0x1p52);
    const auto low = bit_cast<double>(0x4330000000000000U | (word >> 11 & 0x1fffffU));
    return (high + low) * 0x1p-53;
}
inline float unit_interval(uint32_t half) {
    return static_cast<float>(static_cast<int32_t>(half >> 8)) * 0x1p-24F;
}

}  // namespace weft::scalar::inline WEFT_ISA
