// Random numbers as arrays: drawn at the call from a stream that the caller keeps (core/draw.h).
#pragma once

#include "core/bit_generator.h"
#include "weft/array.h"

namespace weft {

enum class Distribution : uint8_t { kWords, kUniform, kNormal, kExponential, kExponentialByLog };

// On the current device. Words are uint64, the others float64 or float32.
array draw(BitGenerator& generator, Distribution distribution, const Dims& shape, DType dtype);
// In [low, low + range], as the dtype's bits.
array draw_integers(BitGenerator& generator, const Dims& shape, DType dtype, uint64_t low, uint64_t range);
// The positions 0 ... count - 1 in random order, int64.
array draw_permutation(BitGenerator& generator, int64_t extent);

}  // namespace weft
