// Checks that a function is well formed: definitions dominate uses, types agree, regions end as they must,
// loads and stores match their buffers, barriers are in uniform flow of a block region. Run after each pass
// in debug builds.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace weft::ir {

// What is wrong, a line each; empty when well formed. Without a module, calls are not checked.
std::vector<std::string> verify(const Function& function, const Module* module = nullptr);

// Throws InternalError with what is wrong and the text of the IR.
void check(const Function& function, const Module* module = nullptr);
void check(const Module& module);

}  // namespace weft::ir
