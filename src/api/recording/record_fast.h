// The fast path from an element-wise call to its node: for operands of one shape on one device, and
// numbers, that are not computed eagerly (api/fast/fast_call.h). False, with nothing done, where that is not
// all there is to say (broadcasting, memory that is exported, errors that depend on values): then
// api/elementwise/call.cpp takes the call.
#pragma once

#include <span>

#include "api/fast/fast_call.h"

namespace weft {

// `inputs` are as they were given: not converted yet.
bool record_call(const OpInfo& op, std::span<GivenOperand> inputs, array& result);

}  // namespace weft
