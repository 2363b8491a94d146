// Reductions over axes that are one block of memory for their operand, but not for what computes it:
// (c * b).sum() with b broadcast over the rows of c. The tree counts through the merged axes; the elements
// are computed row by row (a collapsed reduction). Between the planner, the run of a reduction and its
// lowering.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "library/loops/reduction_order.h"
#include "weft/dims.h"

namespace weft {

// How many of the axes that `walk` merges into its rows count rows for something that is read by `strides`
// (over the axes of `shape`): 0 where it walks them all as one, nothing where it does neither.
std::optional<size_t> collapse_of(const Dims& strides, const ReductionSpace& walk, const Dims& shape);

// Those of two, in one kernel.
std::optional<size_t> joined_collapses(std::optional<size_t> a, std::optional<size_t> b);

// Shorter rows cost more than what they make does when it is stored and read again (measured).
constexpr int64_t kShortestCollapsedRow = 16;

// Elements of a row that it leaves.
int64_t inner_extent(size_t collapse, const ReductionSpace& walk, const Dims& shape);

// Elements of a chunk: a power of two of blocks, as everywhere (KernelForm::chunk), and few enough that the
// elements of all reductions stay in the first-level cache until they are reduced. Of squared deviations a
// chunk is one unit, which the second-level cache holds.
int64_t collapsed_chunk(const ReductionSpace& walk, size_t reductions, bool deviations);

// Whether local memory holds the elements of a chunk of so many reductions.
bool can_collapse(const ReductionSpace& walk, size_t reductions, bool deviations);

// Computes `count` elements from position `begin` of the merged axes, row by row, into local memory: one
// buffer of `chunk` elements for each type, in alias scopes from `scope` on. `elements` gives the values at a
// row and a column.
std::vector<ir::ValueId> compute_rows(
    ir::Builder& builder, ir::ValueId begin, ir::ValueId count, ir::ValueId inner, int64_t chunk,
    std::span<const ScalarType> types, uint16_t scope,
    const std::function<std::vector<ir::ValueId>(ir::ValueId row, ir::ValueId column)>& elements);

}  // namespace weft
