// The array that a reduction is to write into, which NumPy does not broadcast to.
#pragma once

#include <string_view>

#include "weft/array.h"

namespace weft {

// Throws ValueError where `out` is not of the result's shape or cannot be written. `operation` is the ufunc
// that folds, which NumPy's words name.
void check_reduction_output(std::string_view operation, const array& out, const Dims& shape);

}  // namespace weft
