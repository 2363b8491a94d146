#include "planning/rewritten_graph.h"

#include <utility>
#include <vector>

#include "core/config.h"
#include "core/without_failing.h"
#include "planning/algebraic_rewrites.h"
#include "planning/gather_pushdown.h"

namespace weft {

namespace {

std::vector<std::unique_ptr<PendingGraph>>& kept_graphs() {  // under the evaluation lock
    static auto* graphs = new std::vector<std::unique_ptr<PendingGraph>>;
    return *graphs;
}

}  // namespace

RewrittenGraph::RewrittenGraph() {
    if (kept_graphs().empty()) {
        graph_ = std::make_unique<PendingGraph>();
    } else {
        graph_ = std::move(kept_graphs().back());
        kept_graphs().pop_back();
    }
}

RewrittenGraph::~RewrittenGraph() {
    constexpr size_t kMostNodes = size_t{1} << 16;
    if (graph_->nodes().size() > kMostNodes) return;
    without_failing([this] { kept_graphs().push_back(std::move(graph_)); });
}

const NodeSet& RewrittenGraph::collect(std::span<const NodePtr> roots, bool fuse) {
    graph_->collect(roots);
    const bool may_rewrite = fuse && config().rewrite.load(std::memory_order_relaxed);
    if (may_rewrite && rewrite(graph_->nodes())) graph_->collect(roots);
    if (fuse && push_gathers_down(graph_->nodes())) graph_->collect(roots);
    return graph_->nodes();
}

}  // namespace weft
