// The tables of NumPy's ziggurats (tools/measure_ziggurat.py), and where their first layers end: what draws
// on CPUs (random/ziggurat.h) and on GPUs (library/random/cuda/draw_methods.h) have in common.
#pragma once

#include <cstdint>

namespace weft {

#include "random/ziggurat_tables.inc"

// R and 1 / R of the normal distribution's ziggurats, and R of the exponential's.
inline constexpr double kNormalEdge = 3.6541528853610087963519472518;
inline constexpr double kNormalInverse = 0.27366123732975827203338247596;
inline constexpr double kExponentialEdge = 7.69711747013104972;

}  // namespace weft
