// The pending part of the graph that an evaluation works on: the nodes that its roots need, in order of
// recording, with what planning asks of each (Node::plan_…). The first thing that an evaluation does.
#pragma once

#include <span>
#include <vector>

#include "graph/node.h"

namespace weft {

// Used again and again, so that its memory is there already. Under the evaluation lock only.
class PendingGraph {
public:
    // Sources are settled on the way.
    void collect(std::span<const NodePtr> roots);
    std::span<Node* const> nodes() const { return nodes_; }

private:
    std::vector<Node*> nodes_, work_;
};

}  // namespace weft
