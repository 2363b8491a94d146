// Elements of arrays that a parallel loop writes: whether those of different iterations are different
// elements.
#pragma once

#include <vector>

#include "lang/parallel/carried.h"

namespace weft::lang {

// The arrays from before the loop with elements that several iterations may update, and by which operation.
// Throws Refusal where iterations get in each other's way: where an array is also used otherwise, where every
// iteration writes one element, and where one reads what another writes.
std::vector<CarriedVariable> find_accumulated(const FunctionSource& source, NodeId loop,
                                              const VariableSet& assigned);

}  // namespace weft::lang
