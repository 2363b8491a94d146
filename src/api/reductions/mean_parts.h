// The parts of a mean: the dtypes of its sum and its result, and the number of elements. Callers need them
// whose own classes add up and divide (np.mean of a subclass's instance, which may override ufuncs). And
// means and variances with what Python warns of.
#pragma once

#include <optional>

#include "weft/options.h"
#include "weft/statistics.h"

namespace weft {

// The dtype to sum in, and the result's when it is another, as NumPy has them.
struct MeanTypes {
    std::optional<DType> sum, result;
};
MeanTypes mean_types(DType input, std::optional<DType> dtype);

// How many elements each sum is of: a number, or with `where` an array.
Argument mean_count(const array& input, const Axes& axis, const std::optional<Argument>& where,
                    bool keepdims);

// `too_few`: one bool, whether a mask has left nothing somewhere, or no more than `ddof` elements; invalid
// where there is no mask.
array mean(array input, const Axes& axis, const ReductionOptions& options, array& too_few);
array var(array input, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
          array& too_few);
array std(array input, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
          array& too_few);

}  // namespace weft
