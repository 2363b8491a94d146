#include "codegen/runtime/external_functions.h"

#include <atomic>

namespace weft::codegen {

namespace {

std::atomic<ExternalFunctions> finder = nullptr;

}  // namespace

void set_external_functions(ExternalFunctions find) { finder = find; }
ExternalFunctions external_functions() { return finder; }

}  // namespace weft::codegen
