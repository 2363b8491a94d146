#include "graph/pending_graph.h"

#include <algorithm>

#include "weft/errors.h"

namespace weft {

namespace {

uint64_t visits = 0;  // numbers the walks; under the evaluation lock

}  // namespace

void PendingGraph::collect(std::span<const NodePtr> roots) {
    nodes_.clear();
    ++visits;
    const auto visit = [&](Node* node) {
        if (node->done.load(std::memory_order_acquire) || node->plan_visit == visits) return;
        node->plan_visit = visits;
        work_.push_back(node);
    };
    for (const NodePtr& root : roots) visit(root.get());
    while (!work_.empty()) {
        Node* node = work_.back();
        work_.pop_back();
        nodes_.push_back(node);
        for (Operand& input : node->inputs) {
            input.source.settle();
            if (input.source.node) visit(input.source.node.get());
        }
    }
    std::sort(nodes_.begin(), nodes_.end(),
              [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
    // Looked at once: another thread may let go of a value at any moment, and a plan must agree with its key.
    for (size_t k = 0; k < nodes_.size(); ++k) {
        nodes_[k]->plan_position = static_cast<uint32_t>(k);
        nodes_[k]->plan_readers = 0;
    }
    for (const Node* node : nodes_) {
        for (const Operand& input : node->inputs) {
            if (!input.source.node) continue;
            WEFT_CHECK(input.source.node->sequence < node->sequence, "a node is older than what it reads");
            ++input.source.node->plan_readers;
        }
    }
    for (Node* node : nodes_)
        node->plan_held = static_cast<size_t>(node->weak_from_this().use_count()) > node->plan_readers;
}

}  // namespace weft
