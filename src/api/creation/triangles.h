// Which elements of a matrix are on which side of a diagonal.
#pragma once

#include <cstdint>

#include "weft/array.h"

namespace weft {

/// True at and below diagonal `k`, which counts as the lower integer. Throws ValueError for nan.
array below_diagonal(int64_t rows, int64_t columns, double k);

}  // namespace weft
