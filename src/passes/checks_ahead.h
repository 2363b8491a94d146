// Checks of innermost loops in functions that hang on what is read, not on what is computed along the way: of
// divisors and of indices that come from memory. They are looked at for a block of iterations ahead of it, by
// a loop that vectors can do. A block in which none fails runs without them; another runs as it was written,
// so that what was done before an error is what it was.
//
//   for %i = … { %k = load %idx[%i]; check …; … }
//
// becomes, for a block of %i at a time,
//
//   for %i = … { %k = load %idx[%i]; … }; if none fails { for %i = … without checks } else { for %i = … }
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void checks_ahead(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
