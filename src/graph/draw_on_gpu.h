// Normal and exponential numbers on GPUs, where a draw takes as many units of the stream as it happens to:
// core/draw.h for them. A program (library/cuda/kernels/draw_program.cpp) draws; the few numbers in the tail,
// which are logarithms in libm's bits, are computed here and moved.
#pragma once

#include <optional>

#include "core/bit_generator.h"
#include "graph/random.h"
#include "weft/array.h"

namespace weft {

// The numbers that core/draw.h gives, on the current device, and the generator behind them. Nothing, and the
// generator as it was, if they are better drawn on the CPU: few numbers, other distributions, another device,
// and numbers whose comparisons are too close to be decided without libm.
std::optional<array> draw_on_gpu(BitGenerator& generator, Distribution distribution, const Dims& shape,
                                 DType dtype);

}  // namespace weft
