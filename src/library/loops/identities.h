// What a reduction starts from in kernel IR: the element that changes nothing (see has_neutral_element in
// library/loops/reduction_order.h for the one that has none).
#pragma once

#include "ops/constant.h"
#include "ops/op.h"

namespace weft {

Constant neutral_element(const ReductionInfo& reduction, ScalarType compute);
// The same of an operation that has one (OpFacts::neutral); 0 is +0.
Constant neutral_element(Neutral neutral, ScalarType type);

Constant negative_zero(ScalarType type);  // of an inexact type; changes no element that it is added to
Constant all_bits(ScalarType type);       // of an integer type or bool

}  // namespace weft
