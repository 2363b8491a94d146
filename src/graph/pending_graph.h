// The pending part of the graph that an evaluation works on: the nodes that its roots need, in order of
// recording. The first thing that an evaluation does.
#pragma once

#include <span>

#include "graph/node_set.h"

namespace weft {

// Used again and again, so that its memory is there already. Under the evaluation lock only.
class PendingGraph {
public:
    // Sources are resolved on the way.
    void collect(std::span<const NodePtr> roots);
    const NodeSet& nodes() const { return nodes_; }

private:
    NodeSet nodes_;
};

}  // namespace weft
