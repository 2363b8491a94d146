// What an order of a norm says: shared by the norms and the condition number.
#pragma once

#include <optional>

#include "weft/linalg.h"

namespace weft::linalg {

// The value of an order, where it is a real number. Throws ValueError for an array of several elements.
std::optional<double> value_of(const NormOrder& ord);

}  // namespace weft::linalg
