// Element-wise calls: dtype resolution, broadcasting, out=, where=, and the choice between eager work and
// recorded. weft/ops.h has call(), which asks the fast paths first.
#pragma once

#include <span>
#include <vector>

#include "weft/ops.h"

namespace weft {

// As call(), for those whom the fast paths (api/fast/fast_call.h, api/recording/record_fast.h) have refused.
// The inputs are no Python integer alone, and nobody watches for floating-point errors.
std::vector<array> call_general(const OpInfo& op, std::span<const Argument> inputs,
                                const CallOptions& options = {});

}  // namespace weft
