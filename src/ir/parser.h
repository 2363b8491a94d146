// Reads the text form of kernel IR, the twin of ir/printer.h. Throws ValueError with line, column and what
// was expected.
#pragma once

#include <string_view>

#include "ir/ir.h"

namespace weft::ir {

Module parse(std::string_view text);

}  // namespace weft::ir
