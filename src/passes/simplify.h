// Folds what is constant through the op table's own loops, merges identical pure instructions, drops what
// nobody uses. Changes no bit of any result.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void simplify(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
