#include "library/called/functions.h"

namespace weft::called {

namespace {

constexpr EngineFunction kFunctions[] = {
#define WEFT_ENGINE_FUNCTION(name, parameters) {#name, parameters, &call_engine<&name>},
#include "library/called/functions.def"
#undef WEFT_ENGINE_FUNCTION
};

const EngineFunctions added(kFunctions);

}  // namespace

}  // namespace weft::called
