// Elements where a mask is true, and their positions, on GPUs: what library/indexing/compress_loops.h does on
// the CPU.
#pragma once

#include "weft/array.h"

namespace weft {

// In C order; the mask is of bool and not empty. Waits for how many there are.
array positions_on_gpu(const array& mask);
array compressed_on_gpu(const array& values, const array& mask);  // of one shape

}  // namespace weft
