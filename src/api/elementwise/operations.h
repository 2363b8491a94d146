// Behind the functions of weft/operations.h, which tools/generate_ops.py makes from the op table.
#pragma once

#include <span>
#include <utility>

#include "ops/op.h"
#include "weft/options.h"

namespace weft {

array call_one(const OpInfo& op, std::span<const Argument> inputs, const OperationOptions& options);
std::pair<array, array> call_pair(const OpInfo& op, std::span<const Argument> inputs,
                                  const OperationOptions& options);
array reduce_by(ReductionId id, array&& input, const Axes& axis, const ReductionOptions& options);

}  // namespace weft
