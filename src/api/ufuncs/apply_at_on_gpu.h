// ufunc.at and ufunc.reduceat on GPUs, of operations that kernels do: what api/ufuncs/apply_at.cpp does on
// the CPU.
#pragma once

#include <optional>

#include "ops/op.h"
#include "weft/array.h"

namespace weft {

// As apply_at. False, with nothing done, where an element would take too many rounds. Elements that are named
// often are changed once, by all of their operands together where the operation allows it: by floats that are
// added in pairs, as sums are.
bool apply_at_on_gpu(const OpInfo& op, const array& target, const array& positions,
                     const std::optional<array>& operand);

// As reduce_between, in the dtype of the input; nothing where `starts` fall or the operation is not
// associative.
std::optional<array> reduce_between_on_gpu(const OpInfo& op, const array& input, const array& starts);

}  // namespace weft
