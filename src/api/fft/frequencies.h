// The frequencies of transforms, by their step.
#pragma once

#include <cstdint>

#include "weft/array.h"

namespace weft::fft {

/// 0, step, 2 step, … of `count`; if centred, those of the second half are negative, up to -step. Throws
/// ValueError for a negative count.
array multiples(int64_t count, double step, bool centred);

}  // namespace weft::fft
