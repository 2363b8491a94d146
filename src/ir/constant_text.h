// Scalar constants as text, exact to the bit; used by the printer and the parser of kernel IR.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/ir.h"

namespace weft::ir {

// "2.0", "-0.0", "inf", "0x7ff8000000000001" (a NaN other than the canonical one), "true", "(1.0, -2.5)".
std::string constant_text(const Constant& constant);

// The inverse; nothing if `text` is not a constant of the type or does not fit it. Also takes any decimal
// float (rounded to nearest) and the bits of any float in hexadecimal.
std::optional<Constant> parse_constant(ScalarType type, std::string_view text);

}  // namespace weft::ir
