// Different elements, and arrays as sets of elements. Computed at the call.
#pragma once

#include <optional>
#include <utility>

#include "weft/array.h"

namespace weft {

struct UniqueOptions {
    bool first = false, inverse = false, counts = false;  // what to find beside the values
    bool equal_nan = true;                                // whether all NaNs are one value
};

struct Unique {
    array values;   // the different elements, in order
    array first;    // int64, of each value: where it is first in the flattened input
    array inverse;  // int64, of each element: the number of its value; of the input's shape
    array counts;   // int64, of each value: how often it is there
};

/// np.unique: the different elements of an array of any shape. What the options leave out is invalid.
///
///     unique(array{3, 1, 3}).values is {1, 3}
///     unique(array{3, 1, 3}, {.counts = true}).counts is {1, 2}
Unique unique(const array& input, const UniqueOptions& options = {});
/// The different subarrays along an axis, in the order of their elements; NaNs are never equal. `inverse` has
/// one dimension. Throws AxisError.
///
///     unique(array{{1, 2}, {0, 5}, {1, 2}}, 0).values is {{0, 5}, {1, 2}}
Unique unique(const array& input, int64_t axis, const UniqueOptions& options = {});

/// np.union1d: the different elements of both arrays, in order; of the dtype that both promote to. So are the
/// results of the next three.
///
///     union1d(array{3, 1}, array{1, 2}) is {1, 2, 3}
array union1d(const array& first, const array& second);
/// np.intersect1d: the different elements that both arrays have. With `assume_unique` nobody looks for equal
/// elements within an array.
///
///     intersect1d(array{1, 3, 4}, array{3, 1, 2}) is {1, 3}
array intersect1d(const array& first, const array& second, bool assume_unique = false);
/// The same, and where each of them is first in both flattened arrays: int64.
struct Intersection {
    array values, in_first, in_second;
};
Intersection intersect1d_with_indices(const array& first, const array& second, bool assume_unique = false);
/// np.setxor1d: the different elements that only one of the arrays has.
///
///     setxor1d(array{1, 3, 4}, array{3, 1, 2}) is {2, 4}
array setxor1d(const array& first, const array& second, bool assume_unique = false);
/// np.setdiff1d: the different elements of the first array that the second has not, of the first's dtype.
/// With `assume_unique` they keep their order.
///
///     setdiff1d(array{1, 3, 4}, array{3, 1, 2}) is {4}
array setdiff1d(const array& first, const array& second, bool assume_unique = false);

/// How isin looks elements up: as is best; by searching; in a table of integers.
enum class SetSearch : uint8_t { kBest, kSort, kTable };

/// np.isin: bool, of the shape of `element`: whether each element is among `test_elements`, or with `invert`
/// is not. Throws ValueError for a table of what are no integers or bools, RuntimeError for one of integers
/// too far apart.
///
///     isin(array{1, 2, 3}, array{3, 1}) is {true, false, true}
array isin(const array& element, const array& test_elements, bool invert = false,
           SetSearch search = SetSearch::kBest);

}  // namespace weft
