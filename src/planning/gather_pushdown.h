// Gathers before computing: what is gathered from has to be in memory, so f(x)[idx] would compute and store
// all of f(x) for the elements that are read. Where nobody else reads f(x) it becomes f(x[idx]), of the same
// bits: an optimisation switch of planning, not a rewrite in the sense of planning/algebraic_rewrites.h.
#pragma once

#include <span>

#include "graph/node.h"

namespace weft {

// `nodes` are pending, in order of recording. Whether anything was changed; they have to be collected again
// then.
bool push_gathers_down(std::span<Node* const> nodes);

}  // namespace weft
