// One element as str() of a scalar has it: "0.5", "(1+2j)", "True".
#pragma once

#include <string>

#include "weft/dtype.h"

namespace weft {

std::string element_text(DType dtype, const void* bytes);

}  // namespace weft
