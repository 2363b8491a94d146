// Elements in order, beyond sort and argsort of weft/ops.h. NaN comes last, complex numbers are ordered by
// their real part first. Computed at the call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/array.h"

namespace weft {

/// np.partition: a copy in which, along `axis`, the elements at `places` are those of the sorted array, and
/// none before them is larger. Throws ValueError for places beyond the axis. argpartition gives positions.
///
///     partition(array{3, 1, 2}, {0}, 0)(0) is 1
array partition(const array& input, std::vector<int64_t> places, int64_t axis);
array argpartition(const array& input, std::vector<int64_t> places, int64_t axis);

/// np.lexsort: int64 positions along `axis` in the order of the last key, equal ones in that of the key
/// before. Keys have one shape, else ValueError; without a key TypeError.
///
///     const array keys[] = {{1, 0, 2}, {5, 5, 4}};
///     lexsort(keys) is {2, 1, 0}
array lexsort(std::span<const array> keys, int64_t axis = -1);

/// np.digitize: for each element the number of the bin it is in, int64, of its shape: bins[i - 1] <= x <
/// bins[i], or with `right` bins[i - 1] < x <= bins[i]. Bins rise or fall, else ValueError. Complex elements
/// are a TypeError.
///
///     digitize(array{0.5, 2.5}, array{0.0, 1.0, 2.0}) is {1, 3}
array digitize(const array& x, const array& bins, bool right = false);

}  // namespace weft
