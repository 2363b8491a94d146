// Sorting in the host's memory: rows of any stride and type as unsigned keys in NumPy's order (NaN last), on
// all threads. Results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>

#include "weft/dims.h"
#include "weft/dtype.h"

namespace weft {

// A row of elements, `stride` bytes apart.
struct SortedRow {
    const char* from = nullptr;
    int64_t from_stride = 0;
    char* to = nullptr;
    int64_t to_stride = 0;
};

// to = the row in order. -0.0 comes before 0.0, and NaN is written as one NaN.
void sort_rows(ScalarType type, int64_t rows, int64_t length,
               const std::function<SortedRow(int64_t row)>& row_at);

// to = the positions (int64) in the order of their elements; equal ones in their own order.
void argsort_rows(ScalarType type, int64_t rows, int64_t length,
                  const std::function<SortedRow(int64_t row)>& row_at);

// The same of one row without more ado: by the calling thread, for few elements of a type that is not
// complex.
void sort_short_row(ScalarType type, int64_t length, const SortedRow& row);
void argsort_short_row(ScalarType type, int64_t length, const SortedRow& row);

}  // namespace weft
