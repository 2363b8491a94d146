#include "graph/node.h"

#include <algorithm>
#include <mutex>

#include "core/threads/fork.h"
#include "core/threads/short_lock.h"
#include "graph/node_set.h"
#include "graph/storage.h"

namespace weft {

namespace {

// The list of pending nodes is global because memory limits and exported memory concern all of them. The
// nodes themselves are its links, in order of registration; it does not own them: a node leaves it when it is
// computed or dropped.
struct PendingList {
    ShortLock mutex;
    Node *first = nullptr, *last = nullptr;
    std::atomic<size_t> count = 0;   // written under the lock only, as the bytes
    std::atomic<int64_t> bytes = 0;  // that the nodes' inputs hold in memory

    void add(Node& node, int64_t input_bytes) {
        const std::lock_guard lock(mutex);
        if (node.is_listed) return;
        node.is_listed = true;
        node.pending_bytes = input_bytes;
        node.pending_before = last;
        node.pending_after = nullptr;
        (last != nullptr ? last->pending_after : first) = &node;
        last = &node;
        change(1, input_bytes);
    }
    void erase(Node& node) {
        const std::lock_guard lock(mutex);
        if (!node.is_listed) return;
        node.is_listed = false;
        (node.pending_before != nullptr ? node.pending_before->pending_after : first) = node.pending_after;
        (node.pending_after != nullptr ? node.pending_after->pending_before : last) = node.pending_before;
        change(-1, -node.pending_bytes);
    }

private:
    void change(int64_t nodes, int64_t of_bytes) {
        count.store(count.load(std::memory_order_relaxed) + static_cast<size_t>(nodes),
                    std::memory_order_relaxed);
        bytes.store(bytes.load(std::memory_order_relaxed) + of_bytes, std::memory_order_relaxed);
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

NodePtr unnumbered_node() {
    NodePtr node = std::allocate_shared<Node>(ObjectAllocator<Node>());
    node->self_ = node;
    return node;
}

void assign_number(Node& node) {
    node.sequence = next_sequence.fetch_add(kSequenceStep, std::memory_order_relaxed);
}

NodePtr new_node() {
    NodePtr node = unnumbered_node();
    assign_number(*node);
    return node;
}

Node::~Node() {
    if (is_listed) pending().erase(*this);
    // Freed by a list that all destructors of this thread share, since inputs form long chains. Its links are
    // in the nodes: freeing asks for no memory. Nobody else can reach a node that only this one holds, but
    // for those who look through the pending ones, and they leave the link alone.
    thread_local constinit NodePtr* worklist = nullptr;
    NodePtr first;
    const bool outermost = worklist == nullptr;
    if (outermost) worklist = &first;
    for (Operand& input : inputs) {
        NodePtr node = std::move(input.source.node);
        if (node == nullptr || node.use_count() > 1) continue;
        node->dropped_next = std::move(*worklist);
        *worklist = std::move(node);
    }
    if (!outermost) return;
    while (first != nullptr) {
        const NodePtr next = std::move(first);
        first = std::move(next->dropped_next);
    }
    worklist = nullptr;
}

void Source::resolve_node() {
    if (node->done.load(std::memory_order_acquire)) {
        buffer = node->results[result].buffer;
        node.reset();
        result = 0;
    }
}

void Node::become(NodeKind kind) {
    kind_ = kind;
    switch (kind) {
#define WEFT_NODE_KIND(enumerator, payload, ...) \
    case NodeKind::enumerator: payload_.emplace<payload>(); break;
#include "graph/node_kinds.def"
#undef WEFT_NODE_KIND
    }
}

bool is_pointwise(NodeKind kind) {
    static constexpr bool kPointwise[] = {
#define WEFT_NODE_KIND(enumerator, payload, pointwise, ...) pointwise,
#include "graph/node_kinds.def"
#undef WEFT_NODE_KIND
    };
    return kPointwise[static_cast<size_t>(kind)];
}

bool takes_layout(NodeKind kind) {
    static constexpr bool kLayout[] = {
#define WEFT_NODE_KIND(enumerator, payload, pointwise, layout, boundary) layout,
#include "graph/node_kinds.def"
#undef WEFT_NODE_KIND
    };
    return kLayout[static_cast<size_t>(kind)];
}

const ReductionInfo* Node::reduction() const {
    const auto* reduce = std::get_if<ReducePayload>(&payload_);
    return reduce == nullptr ? nullptr : reduce->reduction;
}

DType Node::compute_dtype() const {
    if (kind_ == NodeKind::kReduce) return reduce().compute;
    return kind_ == NodeKind::kScan ? scan().compute : product().compute;
}

const std::vector<bool>& Node::reduced_axes() const {
    return kind_ == NodeKind::kReduce ? reduce().axes : product().axes;
}

std::span<const GatheredAxis> Node::gathered() const {
    if (kind_ == NodeKind::kGather) return std::get<GatherPayload>(payload_).gathered;
    return kind_ == NodeKind::kUpdate ? std::span<const GatheredAxis>(update().gathered)
                                      : std::span<const GatheredAxis>();
}

void Node::add_gathered(const GatheredAxis& axis) {
    (kind_ == NodeKind::kGather ? std::get<GatherPayload>(payload_).gathered : update().gathered)
        .push_back(axis);
}

Dims Node::result_shape() const {
    if (kind_ != NodeKind::kReduce && kind_ != NodeKind::kProduct) return shape;
    const std::vector<bool>& reduced = reduced_axes();
    Dims kept;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (!reduced[d]) kept.push_back(shape[d]);
    }
    return kept;
}

bool Node::read_elementwise(const Operand& operand, const Dims& consumer_shape) const {
    if (operand.source.node.get() != this || kind_ == NodeKind::kUpdate) return false;
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
    storage.current.resolve();
    return storage.current;
}

void register_pending(const NodePtr& node) {
    int64_t bytes = 0;
    for (const Operand& input : node->inputs) {
        if (input.source.buffer) bytes += static_cast<int64_t>(input.source.buffer->size());
    }
    pending().add(*node, bytes);
}

void unregister_pending(Node& node) { pending().erase(node); }

size_t pending_node_count() { return pending().count.load(std::memory_order_relaxed); }

int64_t pending_bytes() { return pending().bytes.load(std::memory_order_relaxed); }

namespace {

void sort_by_sequence(std::vector<NodePtr>& nodes) {
    const auto earlier = [](const NodePtr& a, const NodePtr& b) { return a->sequence < b->sequence; };
    if (!std::is_sorted(nodes.begin(), nodes.end(), earlier)) std::sort(nodes.begin(), nodes.end(), earlier);
}

}  // namespace

std::vector<NodePtr> all_pending() {
    std::vector<NodePtr> found;
    {
        PendingList& list = pending();
        const std::lock_guard lock(list.mutex);
        found.reserve(list.count);
        for (Node* node = list.first; node != nullptr; node = node->pending_after) {
            // One that is being dropped waits for the lock.
            if (NodePtr alive = node->weak_from_this().lock()) found.push_back(std::move(alive));
        }
    }
    std::erase_if(found, [](const NodePtr& node) { return node->done.load(std::memory_order_acquire); });
    sort_by_sequence(found);
    return found;
}

std::vector<NodePtr> pending_held(uint64_t sequence, bool with_products) {
    std::vector<NodePtr> held;
    PendingList& list = pending();
    {
        const std::lock_guard lock(list.mutex);
        NodeSet earlier;
        for (Node* node = list.first; node != nullptr; node = node->pending_after) {
            if (node->sequence < sequence) earlier.add(*node);
        }
        earlier.find_held();
        for (Node* const node : earlier) {
            // What reads a product may replace it (planning/algebraic_rewrites.h), and may be the node that
            // is being recorded.
            if (!with_products && node->kind() == NodeKind::kProduct) continue;
            if (node->done.load(std::memory_order_acquire) || !earlier.is_held(*node)) continue;
            if (NodePtr alive = node->weak_from_this().lock()) held.push_back(std::move(alive));
        }
    }
    sort_by_sequence(held);
    return held;
}

void measure_pending_depths() {
    // Nodes: what is recorded between two cuts, and not all of a wide graph each time.
    constexpr size_t kMost = 1024;
    PendingList& list = pending();
    const std::lock_guard lock(list.mutex);
    if (list.count > kMost) return;
    for (Node* node = list.first; node != nullptr; node = node->pending_after) {
        uint32_t depth = 0;
        for (const Operand& input : node->inputs) {
            const Node* producer = input.source.node.get();
            if (producer != nullptr && !producer->done.load(std::memory_order_acquire))
                depth = std::max(depth, producer->depth.load(std::memory_order_relaxed));
        }
        node->depth.store(depth + 1, std::memory_order_relaxed);
    }
}

namespace {

bool reads(const Node& node, const Buffer* buffer) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Operand& input) {
        const Source& source = input.source;
        if (source.buffer != nullptr) return source.buffer.get() == buffer;
        return source.node != nullptr && source.node->done.load(std::memory_order_acquire) &&
               source.node->results[source.result].buffer.get() == buffer;
    });
}

}  // namespace

std::vector<NodePtr> pending_users(const Buffer* buffer) {
    std::vector<NodePtr> users = all_pending();
    std::erase_if(users, [&](const NodePtr& node) { return !reads(*node, buffer); });
    return users;
}

bool has_pending_users(const Buffer* buffer) {
    PendingList& list = pending();
    const std::lock_guard lock(list.mutex);
    for (const Node* node = list.first; node != nullptr; node = node->pending_after) {
        if (!node->done.load(std::memory_order_acquire) && reads(*node, buffer)) return true;
    }
    return false;
}

}  // namespace weft
