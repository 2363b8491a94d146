// Functions of math, cmath and Python itself that are written in the compiled language (src/lang/prelude).
#pragma once

#include <string_view>

#include "lang/symbols.h"

namespace weft::lang {

// A function like "math.gamma" as a symbol; null where the prelude has none. What it raises is raised where
// it is called.
const Symbol* find_in_prelude(std::string_view path);

}  // namespace weft::lang
