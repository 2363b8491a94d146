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

struct Average {
    array values;
    array weights;  // what the weights of each add up to; broadcast to the values
};
/// np.average: the mean, or the sum of weighted elements over that of the weights, which have the array's
/// shape, or that of the axes. Throws ZeroDivisionError where weights add up to 0, TypeError and ValueError
/// for weights of other shapes.
///
///     average(array{1, 2, 3}, {}, array{3, 0, 1}).values is 1.5
Average average(const array& a, const Axes& axis = {}, const std::optional<array>& weights = {},
                bool keepdims = false);

struct CovarianceOptions {
    bool rowvar = true;               // variables are rows; else columns
    bool bias = false;                // to divide by the number of observations, and not by one less
    std::optional<double> ddof = {};  // how many less; a whole number
    std::optional<array> fweights = {},
                         aweights = {};  // of observations: how often each came; what it weighs
    std::optional<DType> dtype = {};
};
/// np.cov: the covariances of the variables of m, and of y where it is given: a matrix, or a number of one
/// variable; float64 at least. Throws ValueError for more than two dimensions and negative weights,
/// RuntimeError for weights of another length, TypeError for `fweights` that are no whole numbers.
///
///     cov(array{{1, 2, 3}, {3, 2, 1}}) is {{1, -1}, {-1, 1}}
array cov(const array& m, const std::optional<array>& y = {}, const CovarianceOptions& options = {});
/// np.corrcoef: correlations, between -1 and 1.
array corrcoef(const array& x, const std::optional<array>& y = {}, bool rowvar = true,
               const std::optional<DType>& dtype = {});

array count_nonzero(array input, const Axes& axis = {}, bool keepdims = false);

/// Running sums and products along an axis, or over all elements in C order.
array cumsum(const array& input, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});
array cumprod(const array& input, std::optional<int64_t> axis = {}, const AccumulateOptions& options = {});

}  // namespace weft
