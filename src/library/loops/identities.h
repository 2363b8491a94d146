// What a reduction starts from in kernel IR: the element that changes nothing (see has_neutral_element in
// library/loops/reduction_order.h for the one that has none).
#pragma once

#include "ir/ir.h"
#include "ops/op.h"

namespace weft {

ir::Constant neutral_element(const ReductionInfo& reduction, ScalarType compute);

ir::Constant negative_zero(ScalarType type);  // of an inexact type; changes no element that it is added to
ir::Constant all_bits(ScalarType type);       // of an integer type or bool

}  // namespace weft
