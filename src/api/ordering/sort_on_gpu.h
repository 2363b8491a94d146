// Sorting on GPUs, by the programs of library/ordering/cuda: what api/ordering/sort.cpp does on the CPU.
#pragma once

#include "weft/array.h"
#include "weft/dtype.h"

namespace weft {

// Rows along an axis sorted, or the positions of their elements in order (int64); with these strides. The
// array is on a GPU. A row has at most kMostOrdered elements.
array sort_on_gpu(const array& input, size_t axis, const Dims& strides);
array argsort_on_gpu(const array& input, size_t axis, const Dims& strides);
constexpr int64_t kMostOrdered = (int64_t{1} << 30) - 1;

array searchsorted_on_gpu(const array& sorted, const array& values, bool right);

}  // namespace weft
