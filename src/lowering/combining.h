// What partial results of a reduction become: two of them together, and those of a chunk.
#pragma once

#include <span>
#include <vector>

#include "ir/builder.h"
#include "lowering/lower.h"

namespace weft {

/// Of two partial results, a value for each that is carried: the left one is of the earlier elements.
std::vector<ir::ValueId> combine_pair(ir::Builder& b, const ReductionForm& reduction,
                                      std::span<const ir::ValueId> left, std::span<const ir::ValueId> right);

/// (count, mean, squares) of a chunk, from the sums of distances from the shift and of their squares.
std::vector<ir::ValueId> deviations_of_chunk(ir::Builder& b, ir::ValueId count, ir::ValueId shift,
                                             std::span<const ir::ValueId> sums);

}  // namespace weft
