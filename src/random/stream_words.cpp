#include "random/stream_words.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/processor.h"
#include "random/stream_steps.h"

namespace weft {

namespace {

// A step waits for the one before it; so some go on side by side, each in as many steps.
constexpr size_t kChains = 2;

template <class Stream>
[[gnu::always_inline]] inline void make_words(uint64_t* out, size_t count, uint64_t* words) {
    constexpr PcgSteps kSteps = pcg_steps<Stream>(kChains);
    Wide state = wide(words[1], words[0]);
    const Wide increment = wide(words[3], words[2]);
    size_t i = 0;
    if (count >= kChains) {
        std::array<Wide, kChains + 1> states{};
        states[0] = Stream::kShowsAfterStep ? state * Stream::kMultiplier + increment : state;
        for (size_t k = 1; k < kChains; ++k) states[k] = states[k - 1] * Stream::kMultiplier + increment;
        const Wide sum = kSteps.sum * increment;
        for (; i + kChains <= count; i += kChains) {
            if (Stream::kShowsAfterStep) state = states[kChains - 1];
            for (size_t k = 0; k < kChains; ++k) {
                out[i + k] = Stream::shown(states[k]);
                states[k] = states[k] * kSteps.product + sum;
            }
        }
        if (!Stream::kShowsAfterStep) state = states[0];
    }
    for (; i < count; ++i) {
        const Wide next = state * Stream::kMultiplier + increment;
        out[i] = Stream::shown(Stream::kShowsAfterStep ? next : state);
        state = next;
    }
    words[0] = low_of(state);
    words[1] = high_of(state);
}

[[gnu::always_inline]] inline void make_blocks(uint64_t* out, size_t blocks, const uint64_t* counter,
                                               const uint64_t* key) {
    const Philox::Keys keys = Philox::keys(key[0], key[1]);
    Philox::Block at = {counter[0], counter[1], counter[2], counter[3]};
    while (blocks > 0) {  // until the lowest word of the counter carries
        const size_t run = at[0] == 0 ? blocks : std::min<size_t>(blocks, 0 - at[0]);
        for (size_t i = 0; i < run; ++i, out += at.size()) {
            const Philox::Block block = Philox::block({at[0] + i, at[1], at[2], at[3]}, keys);
            std::memcpy(out, block.data(), sizeof block);
        }
        Philox::add(at.data(), run);
        blocks -= run;
    }
}

void pcg64(uint64_t* out, size_t count, uint64_t* state) { make_words<Pcg64>(out, count, state); }
void pcg64_dxsm(uint64_t* out, size_t count, uint64_t* state) { make_words<Pcg64Dxsm>(out, count, state); }
void philox(uint64_t* out, size_t blocks, const uint64_t* counter, const uint64_t* key) {
    make_blocks(out, blocks, counter, key);
}

#if defined(__x86_64__)
// With products that leave the flags alone and go to any register: 0.8 of the time.
__attribute__((target("bmi2"))) void philox_v3(uint64_t* out, size_t blocks, const uint64_t* counter,
                                               const uint64_t* key) {
    make_blocks(out, blocks, counter, key);
}
#endif

}  // namespace

std::span<const WordFunctions> all_word_functions() {
    static const std::vector<WordFunctions> functions = [] {
        std::vector<WordFunctions> result = {{pcg64, pcg64_dxsm, philox}};
#if defined(__x86_64__)
        if (processor_level() != ProcessorLevel::kX86V2) result.push_back({pcg64, pcg64_dxsm, philox_v3});
        if (has_wide_products()) result.push_back({pcg64_by_lanes, pcg64_dxsm_by_lanes, philox_v3});
#endif
        return result;
    }();
    return functions;
}

const WordFunctions& word_functions() { return all_word_functions().back(); }

}  // namespace weft
