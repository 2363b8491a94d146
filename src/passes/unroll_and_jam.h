// A pass for CPUs, before reductions become loops: two rows that are only read and combined go side by side.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

// Memory gives a core more when it is asked for two places that are far apart than for one after another. So
// a grid whose points each reduce a row of cheap elements takes two points of its last dimension at a time:
// their reductions become one with the accumulators of both. What is combined with what stays as it is.
void unroll_and_jam(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
