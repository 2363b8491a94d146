// What passes share that run loops of functions in blocks of iterations.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"
#include "passes/conditions_at_ends.h"

namespace weft::passes {

// Puts what `replacement` appends in place of loops that step by one: it gives the loop's results, or nothing
// where the loop stays, and then the loops in it come to their turn. Of nested loops the outer one comes
// first.
using LoopReplacement = std::function<std::optional<std::vector<ir::ValueId>>(
    ir::Builder&, const ir::Instruction& loop, const Constants&)>;
// Loops with `lanes` only where the pass takes them.
void replace_loops(ir::Function& function, const LoopReplacement& replacement, bool takes_lanes = false);
// In a region that is about to be put into the function.
void replace_loops(ir::Function& function, ir::Region& region, const LoopReplacement& replacement,
                   bool takes_lanes);

// How many iterations a loop from `lower` to below `upper` has; more than int64 holds never end. Blocks are
// counted from 0 up to it, so that nothing runs over the end of int64. Below 0 where it does not run.
ir::ValueId count_iterations(ir::Builder& builder, ir::ValueId lower, ir::ValueId upper);

// Some iterations of a loop that steps by one: from `begin` to below `end`, of which there are `count`.
struct IterationBlock {
    ir::ValueId begin, end, last, count;
    std::vector<ir::ValueId> carried;  // before them
};

// Appends the loop in blocks of `width` iterations, the last one perhaps shorter; gives its results. `body`
// appends a block, and gives what is carried behind it.
std::vector<ir::ValueId> append_in_blocks(
    ir::Builder& builder, const ir::Instruction& loop, ir::ValueId width,
    const std::function<std::vector<ir::ValueId>(ir::Builder&, const IterationBlock&)>& body);

// Appends a copy of the loop for a block of its iterations; gives its results.
std::vector<ir::ValueId> append_for_block(ir::Builder& builder, ir::Function& function,
                                          const ir::Instruction& loop, const IterationBlock& block);

}  // namespace weft::passes
