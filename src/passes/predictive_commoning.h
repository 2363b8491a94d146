// Expressions that a loop computes again a few iterations later are carried there instead, as in the fluxes
// of neighbouring cells or the columns of a window of an image: predictive commoning (Kevin O'Brien, 1990,
// and compilers since). What is carried becomes a recurrence, which vectors have, too.
//
//   for %j = … { … f(a[%j]) … f(a[%j + 1]) … }
//
// becomes
//
//   for %j = … with (%f = f(a[lower])) { %next = f(a[%j + 1]); … %f … %next …; yield %next }
//
// Sums of integers, which are the same in any order, are put in columns first: nine elements around a place
// are the sums of three columns, each of which is that of the place before. Floats keep their order.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void predictive_commoning(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
