// Which threads of a GPU's block are neighbours. Those of a warp, which follow one another along the first
// axis, read and write memory at once, and do so quickly where it is side by side. A kernel whose first axis
// goes along rows, `i, j = grid(2); a[i, j]`, has it far apart instead: 2.5 times the time for a stencil of
// int8. Where threads have nothing to do with each other, which is which is free: then the block's first and
// second axis change places among the hardware's threads, and the program's numbers stay what they are.
#pragma once

#include <array>

#include "ir/ir.h"

namespace weft::passes {

// `entry`: what a thread of a launch runs (thread_number), all calls inlined. `block`: the sizes of a block.
// Whether the axes change places.
bool order_threads(ir::Function& entry, const std::array<int, 3>& block);

}  // namespace weft::passes
