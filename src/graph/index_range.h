// What is known about the integers of an index array without an inspection: from its dtype, from what is
// recorded for it (arange, a remainder, arithmetic on these), and from an earlier inspection of the same
// version of its storage. Bounds of index arrays are errors at the call; knowing spares computing the array
// for them.
#pragma once

#include <cstdint>

#include "core/index_range.h"
#include "graph/node.h"
#include "graph/storage.h"

namespace weft {

// Of integers and bools; every value lies in the range.
IndexRange range_of(const Operand& operand);

// What an inspection of `view` found, for as long as the storage's version is `source`; nothing is remembered
// of memory that is exported. The view is one of the storage's.
void remember_range(const array& view, const Source& source, IndexRange range);
// The current version's operand, and what was remembered of it or can be proven. One moment for both.
Operand read_with_range(const array& view, const Dims& shape, IndexRange& range, bool& exported);

}  // namespace weft
