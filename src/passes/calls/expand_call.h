// The body of a function in place of a call of it, for the passes that inline.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/ir.h"

namespace weft::passes {

// Appends to `expansion`, a region of `caller`, what the callee does with these arguments. Gives its results.
std::vector<ir::ValueId> expand_call(ir::Region& expansion, ir::Function& caller, const ir::Function& callee,
                                     std::span<const ir::ValueId> operands);

// Of the region and those inside of it.
size_t instructions_of(const ir::Region& region);

}  // namespace weft::passes
