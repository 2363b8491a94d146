// Numbers of a distribution from a stream (core/bit_generator.h), as NumPy's Generator draws them, by all
// threads (core/draw_pieces.h).
#pragma once

#include <cstdint>
#include <span>

#include "core/bit_generator.h"
#include "weft/dtype.h"

namespace weft {

void draw_words(BitGenerator& generator, std::span<uint64_t> out);
// In [0, 1).
void draw_uniform(BitGenerator& generator, std::span<double> out);
void draw_uniform(BitGenerator& generator, std::span<float> out);
// By ziggurats (Marsaglia and Tsang, 2000).
void draw_normal(BitGenerator& generator, std::span<double> out);
void draw_normal(BitGenerator& generator, std::span<float> out);
void draw_exponential(BitGenerator& generator, std::span<double> out);
void draw_exponential(BitGenerator& generator, std::span<float> out);

// By the logarithm.
void draw_exponential_by_log(BitGenerator& generator, std::span<double> out);
void draw_exponential_by_log(BitGenerator& generator, std::span<float> out);

// Integers of 1, 2, 4 or 8 bytes, or bools, in [low, low + range], both as the type's bits (Lemire, "Fast
// random integer generation in an interval", 2019).
void draw_integers(BitGenerator& generator, ScalarType type, uint64_t low, uint64_t range, int64_t count,
                   char* out);

// Puts items of `itemsize` bytes into random order.
void shuffle(BitGenerator& generator, char* items, int64_t count, int64_t itemsize);

}  // namespace weft
