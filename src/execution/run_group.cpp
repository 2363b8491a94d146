#include "execution/run_group.h"

#include <algorithm>

#include "core/shape.h"
#include "execution/kernels/launch.h"
#include "execution/profile.h"
#include "execution/run_on_gpu.h"
#include "execution/run_product.h"

namespace weft {

BufferPtr reserve(const Group& group, int64_t bytes) {
    return group.device->allocate(static_cast<size_t>(bytes));
}

GroupBuffers& reserve_results(Group& group) {
    GroupBuffers& buffers = group.buffers;
    buffers.resize(group.nodes.size());
    group.released.reserve(group.nodes.size());  // for commit_all, which must not fail
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        buffers[k].clear();
        if (!group.stored[k] || group.nodes[k]->kind() == NodeKind::kUpdate) continue;
        for (const NodeResult& result : group.nodes[k]->results)
            buffers[k].push_back(reserve(group, result.bytes));
    }
    return buffers;
}

namespace {

// What was computed on another device than the node's goes there.
void bring_home(Group& group) {
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        DeviceBackend& home = *group.nodes[k]->device;
        if (!group.stored[k] || &home == group.device) continue;
        for (BufferPtr& buffer : group.buffers[k]) {
            const BufferPtr there = home.allocate(buffer->size());
            home.copy(*there, 0, *buffer, 0, buffer->size());
            buffer = there;
        }
    }
}

}  // namespace

void commit_all(Group& group) {
    bring_home(group);
    // From the first node to the last: a node that only the group needed dies when its reader lets go of it.
    // Inputs are let go of after all: freeing memory of others may wait for the GIL, and a fork come between.
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        if (!group.stored[k]) continue;
        Node& node = *group.nodes[k];
        for (size_t r = 0; r < group.buffers[k].size(); ++r)
            node.results[r].buffer = std::move(group.buffers[k][r]);
        if (node.poison != nullptr) [[unlikely]] {
            for (const NodeResult& result : node.results) {
                if (result.buffer != nullptr) result.buffer->set_poison(node.poison);
            }
        }
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
    return has_references(buffer, own);
}

namespace {

void run_transfer(Group& group) {
    const Node& node = group.root();
    const Operand& input = node.inputs[0];
    reserve_results(group);
    const ProfiledCopy profiled(input.source.buffer->device(), *node.device, node.results[0].bytes);
    node.device->copy(*group.buffers.back()[0], 0, *input.source.buffer, static_cast<size_t>(input.offset),
                      static_cast<size_t>(node.results[0].bytes));
    commit_all(group);
}

}  // namespace

void run_group(Group& group, bool fuse) {
    const ProfiledGroup profiled(group);
    for (Node* node : group.nodes) {
        for (Operand& operand : node->inputs) operand.source.resolve();
    }
    if (group.root().kind() == NodeKind::kTransfer) {
        run_transfer(group);
    } else if (group.device->is_cpu()) {
        run_on_cpu(group, fuse);
    } else {
        run_on_gpu(group, fuse);
    }
}

void run_on_cpu(Group& group, bool fuse) {
    if (group.multiplies || group.root().kind() == NodeKind::kProduct) {
        run_product(group);
        return;
    }
    if (is_small_group(group)) {
        run_small(group, fuse);
    } else {
        run_kernels(group, fuse);
    }
}

void run_kernels(Group& group, bool fuse) {
    if (group.reduces) {
        run_reduction(group);
    } else if (group.root().kind() == NodeKind::kScan) {
        run_scan(group);
    } else if (group.root().kind() == NodeKind::kCompress) {
        run_compress(group);
    } else if (group.root().kind() == NodeKind::kUpdate) {
        if (group.root().gathered().empty()) {
            run_update(group, fuse);
        } else {
            run_scatter(group, fuse);
        }
    } else {
        run_elementwise(group);
    }
}

}  // namespace weft
