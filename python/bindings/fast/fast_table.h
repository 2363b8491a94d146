// The fast paths that python/functions.toml names (functions/fast_paths.inc): of functions which arguments
// may override, for their dispatchers, and of functions and methods that are bound already.
#pragma once

#include <string_view>

#include "fast/fast_call.h"

namespace weft::python {

/// That of a function of the package which arguments may override; null if it has none. It is for arrays and
/// numbers alone, which override nothing.
FastCall fast_function(std::string_view name);

}  // namespace weft::python
