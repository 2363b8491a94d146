// Reductions that look for something: where the extreme value is, whether there is any true or false element.
// What they find does not depend on the order in which they look.
#pragma once

#include <functional>
#include <vector>

#include "ir/builder.h"
#include "lowering/lower.h"

namespace weft {

using ElementAt = std::function<ir::ValueId(ir::Builder&, ir::ValueId position)>;

// Whether the reduction can be done by the functions below.
bool searches_by_blocks(const ReductionForm& reduction);

// argmax and argmin: the extreme value of elements 0 … count-1 and where it is first, a NaN before all
// others.
std::vector<ir::ValueId> find_extreme(ir::Builder& builder, const ReductionForm& reduction, int64_t lanes,
                                      ir::ValueId count, const ElementAt& element);
// any and all: stops at the block that decides.
ir::ValueId find_deciding(ir::Builder& builder, const ReductionForm& reduction, int64_t lanes,
                          ir::ValueId count, const ElementAt& element);

}  // namespace weft
