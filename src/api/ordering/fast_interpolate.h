// The shortest way (api/fast/fast_call.h) for lines between points, np.interp: few points and few places,
// float64, at hand. The arithmetic is that of weft::interp.
#pragma once

#include "weft/array.h"

namespace weft {

// The values at `x`, and at one place.
bool interpolate_at_hand(const array& x, const array& xp, const array& fp, array& result);
bool interpolate_at_hand(double x, const array& xp, const array& fp, double& result);

}  // namespace weft
