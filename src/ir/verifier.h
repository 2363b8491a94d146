// Checks that a function is well formed: definitions dominate uses, types agree, regions end as they must,
// loads and stores match their buffers, barriers are in uniform flow of a block region. Run after each pass
// in debug builds.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace weft::ir {

std::vector<std::string> verify(const Function& function,
                                const Module* module = nullptr);  // empty when well formed
void check(const Function& function,
           const Module* module = nullptr);  // throws InternalError with the IR's text

}  // namespace weft::ir
