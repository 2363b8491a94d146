// Lines between points.
#pragma once

#include <optional>

#include "weft/array.h"

namespace weft {

struct InterpolationOptions {
    std::optional<Argument> left = {}, right = {};  // the values beyond the ends; absent: those at the ends
    std::optional<Argument> period = {};            // points repeat so far apart, in any order; no ends
};

/// np.interp: the values at `x` of the lines between the points (xp, fp), rows of one length. `xp` rises.
/// Of complex `fp` complex128, else float64. Throws ValueError for no points, for rows of different lengths
/// and for a period of zero, TypeError for complex `x` or `xp`.
///
///     interp(array{1.5, 9.0}, array{1, 2, 3}, array{10, 20, 40}) is {15, 40}
array interp(const array& x, const array& xp, const array& fp, const InterpolationOptions& options = {});

}  // namespace weft
