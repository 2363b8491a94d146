// Arrays as the programs for GPUs read them (execution/kernels/gpu_programs.h).
#pragma once

#include "weft/array.h"

namespace weft {

// `input`, or a copy of it, in C order without gaps, in memory that nobody changes.
array dense_on_gpu(const array& input);

}  // namespace weft
