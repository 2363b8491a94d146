// partition and argpartition, computed at the call as sorting is (weft/ops.h). On GPUs all is sorted.
#pragma once

#include <vector>

#include "weft/array.h"

namespace weft {

// Along `axis`, with the elements of the sorted array at `places`, which lie within it in any order.
array partition(const array& input, std::vector<int64_t> places, int64_t axis);
array argpartition(const array& input, std::vector<int64_t> places, int64_t axis);

}  // namespace weft
