// Selecting in the host's memory: rows in which chosen places hold what the sorted row holds there. Results
// do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "library/ordering/sort_loops.h"

namespace weft {

// to = the row with the elements of the sorted one at `places` (ascending, different), none behind that is
// smaller and none before that is larger.
void partition_rows(ScalarType type, int64_t rows, int64_t length, std::span<const int64_t> places,
                    const std::function<SortedRow(int64_t row)>& row_at);

// to = the positions (int64) of the elements in such an order.
void argpartition_rows(ScalarType type, int64_t rows, int64_t length, std::span<const int64_t> places,
                       const std::function<SortedRow(int64_t row)>& row_at);

}  // namespace weft
