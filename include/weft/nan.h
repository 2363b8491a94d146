// Reductions that leave NaN out. They fuse with what feeds them; where nothing is left, the result says so.
// Of dtypes without NaN they are the plain functions (weft/operations.h, weft/statistics.h).
#pragma once

#include <optional>

#include "weft/array.h"
#include "weft/options.h"
#include "weft/statistics.h"

namespace weft {

/// np.nansum, np.nanprod, np.nancumsum, np.nancumprod: NaN counts as 0, or as 1.
///
///     nansum(array{1.0, std::nan(""), 2.0}) is 3
array nansum(const array& a, const Axes& axis = {}, const ReductionOptions& options = {});
array nanprod(const array& a, const Axes& axis = {}, const ReductionOptions& options = {});
array nancumsum(const array& a, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});
array nancumprod(const array& a, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});

/// np.nanmax, np.nanmin: NaN where there is nothing else. Complex numbers are ordered by their real part
/// first.
///
///     nanmax(array{{1.0, std::nan("")}, {5.0, 2.0}}, 1) is {1, 5}
array nanmax(const array& a, const Axes& axis = {}, const ReductionOptions& options = {});
array nanmin(const array& a, const Axes& axis = {}, const ReductionOptions& options = {});
/// np.nanargmax, np.nanargmin: positions, int64. Throw ValueError where there is nothing else.
array nanargmax(const array& a, const Axes& axis = {}, const ReductionOptions& options = {});
array nanargmin(const array& a, const Axes& axis = {}, const ReductionOptions& options = {});

/// np.nanmean, np.nanvar, np.nanstd: NaN where there is nothing, or not more than `ddof` elements.
///
///     nanmean(array{1.0, std::nan(""), 2.0}) is 1.5
array nanmean(const array& a, const Axes& axis = {}, const ReductionOptions& options = {});
array nanvar(const array& a, const Axes& axis = {}, const Argument& ddof = 0,
             const VarianceOptions& options = {});
array nanstd(const array& a, const Axes& axis = {}, const Argument& ddof = 0,
             const VarianceOptions& options = {});

struct NanReplacements {
    Argument nan = 0.0;
    std::optional<Argument> posinf = {}, neginf = {};  // absent: the largest and the smallest number
};
/// np.nan_to_num: a copy with numbers in the place of NaN and infinities.
///
///     nan_to_num(array{1.0, std::nan("")}) is {1, 0}
array nan_to_num(const array& x, const NanReplacements& replacements = {});

}  // namespace weft
