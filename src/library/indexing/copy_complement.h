// Copies what a view leaves out: the border of an array whose inside a kernel writes into a fresh buffer.
#pragma once

#include <cstdint>

#include "weft/dims.h"

namespace weft {

// Copies `bytes` bytes but for (at least) those that are not elements of the view; elements of it may be
// copied too. Runs on all cores when there is much to copy.
void copy_complement(char* to, const char* from, int64_t bytes, const Dims& shape, const Dims& strides,
                     int64_t offset, int64_t itemsize);

}  // namespace weft
