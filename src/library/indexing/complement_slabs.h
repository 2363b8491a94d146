// What lies outside of a window of an array that fills its buffer, as few slabs: a write into a fresh buffer
// on a GPU copies these from the old version by kernels of their own (on a CPU:
// library/indexing/copy_complement.h).
#pragma once

#include <optional>
#include <vector>

#include "weft/dims.h"

namespace weft {

struct Slab {
    Dims shape, strides;  // elements, bytes
    int64_t offset = 0;   // bytes
};

// The window has `shape`, `strides` and `offset` in a buffer of `bytes`. The slabs are apart from each other,
// and with the window they are all of the buffer. Nothing where the window is no box of a dense array (it has
// steps, or does not run along the buffer's axes).
std::optional<std::vector<Slab>> complement_slabs(int64_t bytes, const Dims& shape, const Dims& strides,
                                                  int64_t offset, int64_t itemsize);

}  // namespace weft
