// Quantiles with what their callers tell the user (weft/quantiles.h).
#pragma once

#include "weft/quantiles.h"

namespace weft {

struct FoundQuantiles {
    array values;
    bool some_nothing = false;  // whether a row has NaN alone, where these are left out
    bool is_element = true;     // whether a result without dimensions is NumPy's scalar, and not an array
};

FoundQuantiles find_median(const array& a, const Axes& axis, const MedianOptions& options, bool skip_nan);
// In percent the parts are divided by 100 first.
FoundQuantiles find_quantiles(const array& a, const Argument& q, const Axes& axis,
                              const QuantileOptions& options, bool percent, bool skip_nan);

}  // namespace weft
