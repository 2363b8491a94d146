// Reductions without NaN (weft/nan.h), with what Python warns of: that nothing was left somewhere.
#pragma once

#include "weft/nan.h"

namespace weft {

// The elements with `value` for NaN.
array nan_replaced(const array& a, const Argument& value);

array nan_extreme(bool largest, const array& a, const Axes& axis, const ReductionOptions& options,
                  bool& nothing);
array nan_mean(const array& a, const Axes& axis, const ReductionOptions& options, bool& nothing);
array nan_variance(const array& a, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
                   bool& nothing);

}  // namespace weft
