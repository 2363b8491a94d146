// The fast path (api/fast/fast_call.h) for lines between points, np.interp: few points and few places,
// float64, host-resident. The arithmetic is that of weft::interp.
#pragma once

#include "weft/array.h"

namespace weft {

// The values at `x`, and at one place.
bool try_interpolate(const array& x, const array& xp, const array& fp, array& result);
bool try_interpolate(double x, const array& xp, const array& fp, double& result);

}  // namespace weft
