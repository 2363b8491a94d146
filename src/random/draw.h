// Numbers of a distribution from a stream (random/bit_generator.h), as NumPy's Generator draws them, by all
// threads (random/parallel_draw.h).
#pragma once

#include <cstdint>
#include <span>

#include "random/bit_generator.h"
#include "weft/dtype.h"

namespace weft {

// Whether what is drawn stays in the caches, which ends where it is larger than they are.
enum class Stores : uint8_t { kCached, kNonTemporal };

void draw_words(BitGenerator& generator, std::span<uint64_t> out);
// In [0, 1).
void draw_uniform(BitGenerator& generator, std::span<double> out);
void draw_uniform(BitGenerator& generator, std::span<float> out);
// By ziggurats (random/ziggurat.h).
void draw_normal(BitGenerator& generator, std::span<double> out, Stores stores);
void draw_normal(BitGenerator& generator, std::span<float> out, Stores stores);
void draw_exponential(BitGenerator& generator, std::span<double> out, Stores stores);
void draw_exponential(BitGenerator& generator, std::span<float> out, Stores stores);

// By the logarithm.
void draw_exponential_by_log(BitGenerator& generator, std::span<double> out);
void draw_exponential_by_log(BitGenerator& generator, std::span<float> out);

// Integers of 1, 2, 4 or 8 bytes, or bools, in [low, low + range], both as the type's bits (Lemire, "Fast
// random integer generation in an interval", 2019).
void draw_integers(BitGenerator& generator, ScalarType type, uint64_t low, uint64_t range, int64_t count,
                   char* out, Stores stores);

}  // namespace weft
