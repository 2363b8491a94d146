// Rewrites of pending nodes before they are planned: another form with the same meaning, in exact arithmetic,
// and far less work. Rounding differs, within bounds that docs/reference/rewrites.md states for each; so only
// floating-point and complex types wider than float16 take part, and no rewrite is made in the naive mode or
// with WEFT_REWRITE=0.
//
// A node is rewritten in place, since arrays name it; what it no longer reads vanishes. New nodes stand
// between its inputs and itself in the order of recording.
#pragma once

#include <span>

#include "graph/node.h"

namespace weft {

// `nodes` are pending, in order of recording. Whether anything was rewritten; they have to be collected again
// then.
bool rewrite(std::span<Node* const> nodes);

// Enters a new node between its inputs and its readers.
void enter_pending(const NodePtr& node);

}  // namespace weft
