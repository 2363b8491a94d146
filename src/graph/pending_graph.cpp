#include "graph/pending_graph.h"

#include "weft/errors.h"

namespace weft {

void PendingGraph::collect(std::span<const NodePtr> roots) {
    nodes_.clear();
    const auto visit = [&](Node& node) {
        if (!node.done.load(std::memory_order_acquire)) nodes_.add(node);
    };
    for (const NodePtr& root : roots) visit(*root);
    for (size_t k = 0; k < nodes_.size(); ++k) {  // more come in the meantime
        for (Operand& input : nodes_[k]->inputs) {
            input.source.resolve();
            if (!input.source.node) continue;
            WEFT_CHECK(input.source.node->sequence < nodes_[k]->sequence,
                       "a node is older than what it reads");
            visit(*input.source.node);
        }
    }
    nodes_.sort();
    nodes_.find_held();
}

}  // namespace weft
