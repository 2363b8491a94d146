// Small functions that call themselves do the work of the calls that they come to at once: the body is put in
// place of each call of itself, once. So half of the calls, or more, are left out.
//
//   function @f(%n) { …; %1 = call @f(%m); … }   becomes   { …; { … with %m; %1 = call @f(%k); … }; … }
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void inline_recursion(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
