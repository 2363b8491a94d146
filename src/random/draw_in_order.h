// Numbers from any source of bits (random/bit_source.h), one after another, as NumPy draws them. What jumps
// is drawn by all threads instead, where there is a way (random/draw.h).
#pragma once

#include <cstdint>
#include <span>

#include "random/bit_source.h"
#include "weft/dtype.h"

namespace weft {

// How integers of a range come about: by products, as Generator's, or by masks, as RandomState's.
enum class Within : uint8_t { kByProducts, kByMasks };

void draw_words(Bits& bits, std::span<uint64_t> out);
void draw_uniform(Bits& bits, std::span<double> out);
void draw_uniform(Bits& bits, std::span<float> out);
void draw_normal(Bits& bits, std::span<double> out);
void draw_normal(Bits& bits, std::span<float> out);
void draw_exponential(Bits& bits, std::span<double> out);
void draw_exponential(Bits& bits, std::span<float> out);
void draw_exponential_by_log(Bits& bits, std::span<double> out);
void draw_exponential_by_log(Bits& bits, std::span<float> out);

// Integers of 1, 2, 4 or 8 bytes, or bools, in [low, low + range], both as the type's bits.
void draw_integers(Bits& bits, ScalarType type, Within within, uint64_t low, uint64_t range, int64_t count,
                   char* out);
// The same between bounds of their own: `low` and `range` of each number, as 64 bits.
void draw_integers_between(Bits& bits, ScalarType type, Within within, std::span<const uint64_t> low,
                           std::span<const uint64_t> range, char* out);

// Different numbers below `population`, at least as many as `out` has: by Floyd's method where they are few
// (Bentley and Floyd, 1987), else from the end of a shuffle; unless `shuffled` those of Floyd's come as they
// are found, of which the first cannot be the largest numbers.
void draw_sample(Bits& bits, int64_t population, std::span<int64_t> out, bool shuffled);

// Puts items of `itemsize` bytes into random order.
void shuffle(Bits& bits, char* items, int64_t count, int64_t itemsize);

// 0, 1, 2 and so on.
void count_up(std::span<int64_t> numbers);

}  // namespace weft
