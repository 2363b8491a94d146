// What a kernel, in kernel IR, asks of its threads' places: where it only wants their places among all of the
// grid's, threads of different blocks may follow one another in a loop (blocks.cpp).
#pragma once

#include <array>
#include <span>

#include "ir/ir.h"
#include "lang/lower.h"

namespace weft::lang {

struct ThreadUses {
    // By axis: it asks for a thread's number in its block, or its block's in the grid, but for their sum
    // blockIdx * blockDim + threadIdx.
    std::array<bool, 3> apart{};
    // By axis: how many accesses to memory lie side by side for threads that do. Those in loops count more.
    std::array<int64_t, 3> side_by_side{};
    bool block_memory = false;
    bool grid_size = false;  // as the step of loops that share out what there is
    bool loops = false;

    bool is_apart() const { return apart[0] || apart[1] || apart[2]; }
};

// `globals`: which all functions of the module take behind their arguments.
ThreadUses find_thread_uses(const ir::Module& module, const ir::Function& kernel,
                            std::span<const GlobalArgument> globals);

}  // namespace weft::lang
