#include "graph/run_group.h"

#include <algorithm>

#include "core/shape.h"
#include "graph/launch.h"
#include "graph/run_product.h"

namespace weft {

BufferPtr reserve(int64_t bytes) { return cpu_device().allocate(static_cast<size_t>(bytes)); }

GroupBuffers& reserve_results(Group& group) {
    GroupBuffers& buffers = group.buffers;
    buffers.resize(group.nodes.size());
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        buffers[k].clear();
        if (!group.stored[k] || group.nodes[k]->kind == NodeKind::kUpdate) continue;
        for (const NodeResult& result : group.nodes[k]->results) buffers[k].push_back(reserve(result.bytes));
    }
    return buffers;
}

void commit_all(Group& group) {
    // From the first node to the last: a node that only the group needed dies when its reader lets go of it.
    // Inputs are let go of after all: freeing memory of others may wait for the GIL, and a fork come between.
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        if (!group.stored[k]) continue;
        Node& node = *group.nodes[k];
        for (size_t r = 0; r < group.buffers[k].size(); ++r)
            node.results[r].buffer = std::move(group.buffers[k][r]);
        group.buffers[k].clear();
        group.released.push_back(std::move(node.inputs));
        node.inputs.clear();
        unregister_pending(node);
        node.done.store(true, std::memory_order_release);
    }
    group.released.clear();
}

bool owns_last_references(const Group& group, const BufferPtr& buffer) {
    long own = 0;
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        for (const Operand& operand : group.nodes[k]->inputs) {
            if (operand.source.buffer != buffer) continue;
            if (group.repeated[k]) return false;  // another group reads it through the same node
            ++own;
        }
    }
    return buffer.use_count() == own;
}

void run_group(Group& group, bool fuse) {
    for (Node* node : group.nodes) {
        for (Operand& operand : node->inputs) operand.source.settle();
    }
    if (group.multiplies || group.root().kind == NodeKind::kProduct) {
        run_product(group);
        return;
    }
    if (is_small_group(group)) {
        run_small(group, fuse);
    } else if (group.reduces) {
        run_reduction(group);
    } else if (group.root().kind == NodeKind::kScan) {
        run_scan(group);
    } else if (group.root().kind == NodeKind::kUpdate) {
        run_update(group, fuse);
    } else {
        run_elementwise(group);
    }
}

}  // namespace weft
