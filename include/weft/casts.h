// Conversions of dtype that are refused where a value would change.
#pragma once

#include "weft/array.h"

namespace weft {

/// np.ndarray.astype(dtype, casting="same_value"): the elements as `dtype`. Throws ValueError where one has
/// no equal there: a fraction for an integer type, a number out of its range, digits that a shorter float has
/// not, an imaginary part for a real type. NaN stays NaN between floats, and everything has its truth as
/// bool. The values are looked at, so the operand is computed at the call.
///
///     astype_same_value(array{1.0, 2.0}, ScalarType::kInt8) is {1, 2}; of array{1.5} it throws
array astype_same_value(const array& input, DType dtype, char order = 'K', bool copy = true);

}  // namespace weft
