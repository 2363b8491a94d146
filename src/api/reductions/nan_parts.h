// Reductions without NaN (weft/nan.h), with what Python warns of: that nothing was left somewhere.
#pragma once

#include "weft/nan.h"

namespace weft {

// The elements with `value` for NaN.
array nan_replaced(const array& a, const Argument& value);

// `nothing`: one bool, whether nothing was left somewhere, or no more than `ddof` elements; invalid where
// that cannot be.
array nan_extreme(bool largest, const array& a, const Axes& axis, const ReductionOptions& options,
                  array& nothing);
array nan_mean(const array& a, const Axes& axis, const ReductionOptions& options, array& nothing);
array nan_variance(const array& a, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
                   array& nothing);

}  // namespace weft
