#include "graph/node.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "core/fork.h"
#include "graph/storage.h"

namespace weft {

namespace {

// The list of pending nodes is global because memory limits and shown memory concern all of them. It holds
// weak references only; a node leaves it when it is computed or dropped.
struct PendingList {
    std::mutex mutex;
    struct Entry {
        std::weak_ptr<Node> node;
        int64_t bytes;  // that its inputs hold in memory
    };
    std::unordered_map<Node*, Entry> nodes;
    std::atomic<int64_t> bytes = 0;

    void erase(Node* node) {
        const std::lock_guard lock(mutex);
        const auto found = nodes.find(node);
        if (found == nodes.end()) return;
        bytes -= found->second.bytes;
        nodes.erase(found);
    }
};

PendingList& pending() {
    static auto* list = new PendingList;  // never destroyed: nodes may outlive static destruction
    return *list;
}

[[maybe_unused]] const bool at_fork = on_fork(
    ForkRank::kPendingNodes,
    {[] { pending().mutex.lock(); }, [] { pending().mutex.unlock(); }, [] { pending().mutex.unlock(); }});

std::atomic<uint64_t> next_sequence = kSequenceStep;

}  // namespace

Node::Node() : sequence(next_sequence.fetch_add(kSequenceStep, std::memory_order_relaxed)) {}

Node::~Node() {
    if (depth != 0 && !done.load(std::memory_order_acquire)) pending().erase(this);
    // Freed with a worklist that all destructors of this thread share, since inputs form long chains.
    thread_local std::vector<NodePtr>* worklist = nullptr;
    std::vector<NodePtr> own;
    const bool outermost = worklist == nullptr;
    if (outermost) worklist = &own;
    for (Operand& input : inputs) {
        if (input.source.node) worklist->push_back(std::move(input.source.node));
    }
    if (!outermost) return;
    while (!own.empty()) {
        const NodePtr next = std::move(own.back());
        own.pop_back();
    }
    worklist = nullptr;
}

void Source::settle_node() {
    if (node->done.load(std::memory_order_acquire)) {
        buffer = node->results[result].buffer;
        node.reset();
        result = 0;
    }
}

Dims Node::result_shape() const {
    if (kind != NodeKind::kReduce && kind != NodeKind::kProduct) return shape;
    Dims kept;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (!reduced_axes[d]) kept.push_back(shape[d]);
    }
    return kept;
}

bool Node::read_elementwise(const Operand& operand, const Dims& consumer_shape) const {
    if (operand.source.node.get() != this || kind == NodeKind::kUpdate) return false;
    const NodeResult& result = results[operand.source.result];
    if (operand.offset != 0 || operand.dtype != result.dtype) return false;
    const Dims own = result_shape();
    if (own != consumer_shape) return false;
    for (size_t d = 0; d < own.size(); ++d) {
        if (own[d] != 1 && operand.strides[d] != result.strides[d]) return false;
    }
    return true;
}

Source current_version(Storage& storage) {
    const std::lock_guard lock(storage.mutex);
    storage.current.settle();
    return storage.current;
}

void register_pending(const NodePtr& node) {
    int64_t bytes = 0;
    for (const Operand& input : node->inputs) {
        if (input.source.buffer) bytes += static_cast<int64_t>(input.source.buffer->size());
    }
    PendingList& list = pending();
    const std::lock_guard lock(list.mutex);
    list.nodes.emplace(node.get(), PendingList::Entry{node, bytes});
    list.bytes += bytes;
}

void unregister_pending(Node& node) { pending().erase(&node); }

size_t pending_node_count() {
    PendingList& list = pending();
    const std::lock_guard lock(list.mutex);
    return list.nodes.size();
}

int64_t pending_bytes() { return pending().bytes.load(std::memory_order_relaxed); }

std::vector<NodePtr> all_pending() {
    std::vector<NodePtr> found;
    {
        PendingList& list = pending();
        const std::lock_guard lock(list.mutex);
        for (const auto& [raw, entry] : list.nodes) {
            if (NodePtr node = entry.node.lock()) found.push_back(std::move(node));
        }
    }
    std::erase_if(found, [](const NodePtr& node) { return node->done.load(std::memory_order_acquire); });
    std::sort(found.begin(), found.end(),
              [](const NodePtr& a, const NodePtr& b) { return a->sequence < b->sequence; });
    return found;
}

std::vector<NodePtr> pending_users(const Buffer* buffer) {
    std::vector<NodePtr> users = all_pending();
    std::erase_if(users, [&](const NodePtr& node) {
        return std::none_of(node->inputs.begin(), node->inputs.end(), [&](const Operand& input) {
            Source source = input.source;
            source.settle();
            return source.buffer.get() == buffer;
        });
    });
    return users;
}

}  // namespace weft
