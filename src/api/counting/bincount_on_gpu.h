// bincount on GPUs: what api/counting/bincount.cpp does on the CPU.
#pragma once

#include "weft/array.h"

namespace weft {

// Of positions as int64; `weights` are float64, or no array. Sums of weights are added in an order that
// depends on nothing but the positions. Waits for the range of the positions.
array bincount_on_gpu(const array& positions, const array& weights, int64_t least);

}  // namespace weft
