// ufunc.at and ufunc.reduceat: a function applied to one element after another, in the host's memory.
#pragma once

#include <optional>

#include "ops/op.h"
#include "weft/array.h"

namespace weft {

// For each i, the element of `target` with number positions[i] in C order becomes op(it, operand[i]), one
// after another. Positions are int64, in bounds; both are of one dimension. Throws UFuncTypeError.
void apply_at(const OpInfo& op, const array& target, const array& positions,
              const std::optional<array>& operand);

// Along the last axis: from each of `starts` to the next one, or to the end, elements combined by `op` in
// pairs; the element itself where the next start is not behind it. `starts` are int64, in bounds.
array reduce_between(const OpInfo& op, const array& input, const array& starts, std::optional<DType> dtype);

}  // namespace weft
