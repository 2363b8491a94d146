// What is put together from sums: mean, variance, standard deviation. They fuse with what feeds them.
#pragma once

#include "weft/operations.h"
#include "weft/ops.h"

namespace weft {

/// np.mean: of integers float64; float16 and bfloat16 add up in float32. `options.initial` is not looked at.
array mean(array input, const Axes& axis = {}, const ReductionOptions& options = {});
/// np.var: the sum of the squared distances from the mean, by the number of elements less `ddof`. Takes no
/// `where` and no `initial`.
array var(array input, const Axes& axis = {}, double ddof = 0, const ReductionOptions& options = {});
/// np.std: the square root of it.
array std(array input, const Axes& axis = {}, double ddof = 0, const ReductionOptions& options = {});
array count_nonzero(array input, const Axes& axis = {}, bool keepdims = false);

/// Running sums and products along an axis, or over all elements in C order.
array cumsum(const array& input, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});
array cumprod(const array& input, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});

}  // namespace weft
