// Numbers on GPUs of which each takes as many units of the stream as it happens to: random/draw.h for them.
// Programs (library/random/cuda/draw_tiles.h) draw; the few normal and exponential numbers in the tail,
// which are logarithms in libm's bits, are computed here and moved.
#pragma once

#include <optional>

#include "api/random/random.h"
#include "random/bit_generator.h"
#include "weft/array.h"

namespace weft {

// The numbers that random/draw.h gives, on the current device, and the generator behind them. Nothing, and
// the generator as it was, if they are better drawn on the CPU: few numbers, other distributions, another
// device, and numbers whose comparisons are too close to be decided without libm.
std::optional<array> draw_on_gpu(BitGenerator& generator, Distribution distribution, const Dims& shape,
                                 DType dtype);
// The same of integers in [low, low + range], as the dtype's bits.
std::optional<array> draw_integers_on_gpu(BitGenerator& generator, const Dims& shape, DType dtype,
                                          uint64_t low, uint64_t range);

}  // namespace weft
