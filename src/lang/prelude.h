// Functions of math, cmath and Python itself that are written in the compiled language (src/lang/prelude).
//
// A file of the prelude with CHECKED names its functions that may be given indices beyond the ends of arrays.
// In its others an index of an array is never tested: it is in bounds, and not negative. Under WEFT_VERIFY it
// is tested, and an IndexError says that the prelude is wrong.
#pragma once

#include <string_view>

#include "lang/symbols.h"

namespace weft::lang {

// A function like "math.gamma" as a symbol; null where the prelude has none. What it raises is raised where
// it is called.
const Symbol* find_in_prelude(std::string_view path);

}  // namespace weft::lang
