// What a launch of a kernel runs, and how: blocks, or tiles of all threads.
#pragma once

#include <array>
#include <vector>

#include "lang/compilation.h"
#include "lang/kernels/kernels.h"

namespace weft::lang {

// What a launch runs, and how.
struct FunctionLowering::Kernels::Launch {
    const FunctionSource& kernel;
    const Specialised& code;
    std::vector<Value> arguments;
    std::array<ir::ValueId, 3> grid, size;
    ir::ValueId dynamic_bytes, block;
};

// Threads that are loops, all of a launch: those that follow one another along an axis may be of different
// blocks, where the kernel does not ask which one's they are (thread_uses.h).
struct FunctionLowering::Kernels::Tiles {
    std::array<size_t, 3> order;  // of axes, from the innermost loop on
    std::array<bool, 3> across;   // blocks
    // By axis: how many tiles there are, how many threads one has, and of how many it is a part.
    std::array<ir::ValueId, 3> counts, sizes, extents;
};

}  // namespace weft::lang
