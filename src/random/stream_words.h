// The words of streams (random/bit_generator.h) one after another, as fast as the processor makes them: those
// of PCG in sixteen lanes where vectors have products of 52 bits (0.4 of the time of scalar products), else
// in two chains of steps side by side; Philox block by block, of which lanes would make no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

struct WordFunctions {
    // Write `count` words; the state (with the increment, as in BitGenerator) goes on by as many steps.
    using Pcg = void (*)(uint64_t* out, size_t count, uint64_t* state);
    // Writes the four words of the counter, of the one after it, ...; both stay.
    using Blocks = void (*)(uint64_t* out, size_t blocks, const uint64_t* counter, const uint64_t* key);

    Pcg pcg64, pcg64_dxsm;
    Blocks philox;
};

// The quickest ones that the processor has.
const WordFunctions& word_functions();
// All that it has, which give the same words.
std::span<const WordFunctions> all_word_functions();

void pcg64_by_lanes(uint64_t* out, size_t count, uint64_t* state);
void pcg64_dxsm_by_lanes(uint64_t* out, size_t count, uint64_t* state);

}  // namespace weft
