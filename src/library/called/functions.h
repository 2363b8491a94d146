// The functions of functions.def. Compiled code calls them by their names.
#pragma once

#include "ops/engine_function.h"

namespace weft::called {

#define WEFT_ENGINE_FUNCTION(name, parameters) int64_t name(EngineArguments arguments);
#include "library/called/functions.def"
#undef WEFT_ENGINE_FUNCTION

}  // namespace weft::called
