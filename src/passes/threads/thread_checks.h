// Checks in loops over the threads of a row (passes/threads/thread_fission.h), which keep them from becoming
// vectors. What rises or falls with the thread's place, as indices do, is looked at for the first and the
// last thread of the row, once:
//
//   for %x in a row { check %x < %n; … }   →   if both ends hold { for %x … without } else { for %x … }
//
// Before that, a row in which only some threads do something, as where `x < n`, has only these.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void thread_checks(const ir::Module& module, ir::Function& function);
// Of loops that are about to be put into the function.
void thread_checks(ir::Function& function, ir::Region& region);

}  // namespace weft::passes
