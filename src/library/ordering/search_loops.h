// Searching in the host's memory: where values belong in a sorted row, many at a time and on all threads.
#pragma once

#include <cstdint>

#include "weft/dtype.h"

namespace weft {

// For each of `count` values, dense int64 positions where it belongs in the sorted row: before equal
// elements, or with `right` behind them. Orders are those of library/ordering/sort_keys.h.
void search_sorted(ScalarType type, const char* sorted, int64_t sorted_stride, int64_t length,
                   const char* values, int64_t count, bool right, int64_t* positions);

}  // namespace weft
