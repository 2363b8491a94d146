// Reductions of rows of a few elements, as many as the kernel knows, without a loop over them: what computes
// many rows is one loop over rows then, which LLVM turns into vector code. The bits are those of kReduce.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "lowering/lower.h"

namespace weft {

// Elements of the longest row that is reduced so.
constexpr int64_t kLongestShortRow = 16;
// Of all elements of a row, in units of OpInfo::cost: beyond, compiling takes long and loops are as fast.
constexpr int64_t kMostShortRowWork = 600;

using ElementValues = std::function<std::vector<ir::ValueId>(ir::ValueId position)>;

// Where the neutral element, from which a reduction starts, is combined with what is reduced.
enum class NeutralElement : uint8_t { kWithEach, kWithResult, kNowhere };
NeutralElement neutral_of_row(const ReductionForm& reduction);

// Combines the elements of a row of `count` in the order of kReduce: in `lanes`, all in one block. `neutral`
// says for each component of the initials where these count.
std::vector<ir::ValueId> reduce_short_row(ir::Builder& builder, int64_t count, int64_t lanes,
                                          std::span<const ir::ValueId> initials,
                                          std::span<const NeutralElement> neutral,
                                          const ElementValues& element, const ir::Builder::Body& combine);

// argmax and argmin: the extreme value and where it is first, a NaN before all others.
std::vector<ir::ValueId> find_extreme_of_short_row(ir::Builder& builder, const ReductionForm& reduction,
                                                   int64_t count, const ElementValues& element);

}  // namespace weft
