// Where operands and results show floating-point errors, operation by operation: see
// api/elementwise/float_errors.h.
#pragma once

#include "api/elementwise/float_errors.h"

namespace weft {

array both(const Argument& first, const Argument& second);  // of bools

// After a call: operands and results are of the loop's types.
void inspect_call(FloatWatch& watch, const OpInfo& op, std::span<const array> operands,
                  std::span<const array> results);
void inspect_cast(FloatWatch& watch, const array& from, const array& to);
void inspect_reduction(FloatWatch& watch, const ReductionInfo& info, const array& input, const array& result,
                       const ReduceOptions& options);
void inspect_scan(FloatWatch& watch, const array& input, const array& result, int64_t axis);

}  // namespace weft
