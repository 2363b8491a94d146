// What is put together from sums: mean, variance, standard deviation. They fuse with what feeds them.
#pragma once

#include "weft/operations.h"
#include "weft/ops.h"

namespace weft {

/// np.mean: of integers float64; float16 and bfloat16 add up in float32. `options.initial` is not used.
array mean(array input, const Axes& axis = {}, const ReductionOptions& options = {});

struct VarianceOptions {
    std::optional<DType> dtype = {};  // to compute in
    bool keepdims = false;
    std::optional<Argument> where = {};  // a boolean array: only these elements count
    std::optional<Argument> mean = {};   // if it is known; it broadcasts to the elements
    array out = {};
};

/// np.var: the sum of the squared distances from the mean, by the number of elements less `ddof`, a number or
/// an array that broadcasts to the result.
array var(array input, const Axes& axis = {}, const Argument& ddof = 0, const VarianceOptions& options = {});
/// np.std: the square root of it.
array std(array input, const Axes& axis = {}, const Argument& ddof = 0, const VarianceOptions& options = {});
array count_nonzero(array input, const Axes& axis = {}, bool keepdims = false);

/// Running sums and products along an axis, or over all elements in C order.
array cumsum(const array& input, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});
array cumprod(const array& input, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});

}  // namespace weft
