// Where an array is not zero, and the elements that a mask selects. How many there are depends on values: the
// mask is computed and counted at the call, then every selected place is written once, side by side.
#pragma once

#include <vector>

#include "weft/array.h"

namespace weft {

// Of an array with dimensions: the positions along each of them, int64, in C order.
std::vector<array> nonzero_positions(const array& input);

// The elements of `input` where `mask`, of the same shape, is true, in C order.
array compressed(const array& input, const array& mask);

}  // namespace weft
