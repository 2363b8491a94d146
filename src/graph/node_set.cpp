#include "graph/node_set.h"

#include <algorithm>

namespace weft {

void NodeSet::sort() {
    const auto earlier = [](const Node* a, const Node* b) { return a->sequence < b->sequence; };
    std::sort(nodes_.begin(), nodes_.end(), earlier);
    for (size_t k = 0; k < nodes_.size(); ++k) nodes_[k]->position = static_cast<uint32_t>(k);
}

void NodeSet::find_held() {
    uses_.assign(nodes_.size(), Use());
    for (const Node* node : nodes_) {
        for (const Operand& input : node->inputs) {
            const Node* const read = input.source.node.get();
            if (read != nullptr && contains(*read)) ++uses_[read->position].readers;
        }
    }
    for (size_t k = 0; k < nodes_.size(); ++k) {
        const auto references = static_cast<size_t>(nodes_[k]->weak_from_this().use_count());
        uses_[k].held = references > uses_[k].readers;
    }
}

}  // namespace weft
