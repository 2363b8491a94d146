// The pending nodes that some roots need, after rewriting: what a plan is made of, and what is explained.
#pragma once

#include <memory>
#include <span>

#include "graph/pending_graph.h"

namespace weft {

// Under the evaluation lock. The memory is kept for the next one; an evaluation that a signal handler starts
// inside of another has its own.
class RewrittenGraph {
public:
    RewrittenGraph();
    RewrittenGraph(const RewrittenGraph&) = delete;
    RewrittenGraph& operator=(const RewrittenGraph&) = delete;
    ~RewrittenGraph();

    // Valid until the next call, or the end of this object.
    const NodeSet& collect(std::span<const NodePtr> roots, bool fuse);

private:
    std::unique_ptr<PendingGraph> graph_;
};

}  // namespace weft
