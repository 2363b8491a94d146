// argmax and argmin along rows that lie in memory, by the searches that are compiled ahead of time
// (ops/extreme_search.h): what such a kernel runs instead of blocks until its machine code is there. Between
// a kernel's form (lowering/lower.h) and its launch, beside codegen/interpreter/executor.h; bits are those of
// both.
#pragma once

#include <memory>

#include "codegen/interpreter/executor.h"
#include "lowering/lower.h"

namespace weft {

// Null for forms that do more than one search of what they read.
std::shared_ptr<const codegen::BlockKernel> make_search_kernel(const KernelForm& form);

}  // namespace weft
