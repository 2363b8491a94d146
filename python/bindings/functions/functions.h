// What the functions of several topics share.
#pragma once

#include "objects/objects.h"
#include "ops/resolve.h"

namespace weft::python {

/// The array that a result goes to; an invalid one for None. Throws TypeError for what is no array.
array to_out(nb::handle out);
/// What positions beyond an axis mean: 'raise', 'wrap' or 'clip'.
TakeMode to_take_mode(nb::handle mode);
/// A dtype, or the type of a value, as np.result_type takes them.
OperandType operand_type(nb::handle object);

}  // namespace weft::python
