// Where argmax and argmin find their element: ahead-of-time loops over elements in memory.
#pragma once

#include <cstdint>

#include "weft/dtype.h"

namespace weft {

/// The position of the first extreme one of `count` elements (one at least) that lie `stride` bytes apart. A
/// NaN is before all numbers; of complex numbers the real parts decide first. Pointers need no alignment.
using ExtremeSearch = int64_t (*)(const char* elements, int64_t stride, int64_t count);

struct ExtremeSearches {
    ExtremeSearch largest, smallest;
};

ExtremeSearch find_extreme_search(ScalarType type, bool largest);

}  // namespace weft
