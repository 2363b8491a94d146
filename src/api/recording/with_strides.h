// An array in the layout that NumPy would give it: what a GPU's library has made often lies otherwise.
#pragma once

#include "weft/array.h"

namespace weft {

// `given` where it lies so, else a copy that does.
array with_strides(const array& given, const Dims& strides);

}  // namespace weft
