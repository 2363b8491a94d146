#include "graph/plan.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/lower.h"
#include "graph/reduction_tree.h"

namespace weft {

namespace {

// Past these a kernel's registers and compile time grow faster than the traffic it saves.
constexpr size_t kMaxGroupNodes = 64;
constexpr size_t kMaxGroupInputs = 24;

struct Consumer {
    Node* node;
    const Operand* operand;
};

size_t outside_inputs(const Node& node) {
    return static_cast<size_t>(std::count_if(node.inputs.begin(), node.inputs.end(),
                                             [](const Operand& input) { return !input.is_constant(); }));
}

// Whether the operand can be computed inside the consumer's kernel, element by element.
bool joins_as(const Node& producer, const Consumer& consumer) {
    const Node& node = *consumer.node;
    if (node.kind == NodeKind::kArange) return false;
    if (node.kind == NodeKind::kUpdate && consumer.operand == &node.inputs[0]) return false;
    return producer.read_elementwise(*consumer.operand, node.shape);
}

// A reduction merges the axes that are one block of memory for its operand; everything that is computed
// inside its kernel must be walked by the same merged axes.
bool reduction_fits(const Group& group) {
    const Node& root = group.root();
    const ReductionSpace space =
        reduction_space(*root.reduction, root.compute_dtype.scalar_type(), root.shape, root.reduced_axes,
                        root.inputs[0].strides, root.results[0].strides);
    for (const Node* node : group.nodes) {
        for (const Operand& input : node->inputs) {
            if (input.is_constant()) continue;
            for (const std::vector<size_t>& axes : space.reduced_axes) {
                for (size_t k = 0; k + 1 < axes.size(); ++k) {
                    if (input.strides[axes[k]] != input.strides[axes[k + 1]] * root.shape[axes[k + 1]])
                        return false;
                }
            }
        }
    }
    return true;
}

}  // namespace

std::vector<Node*> collect_pending(std::span<const NodePtr> roots) {
    std::vector<Node*> nodes, work;
    std::unordered_set<Node*> seen;
    const auto visit = [&](Node* node) {
        if (!node->done.load(std::memory_order_acquire) && seen.insert(node).second) work.push_back(node);
    };
    for (const NodePtr& root : roots) visit(root.get());
    while (!work.empty()) {
        Node* node = work.back();
        work.pop_back();
        nodes.push_back(node);
        for (Operand& input : node->inputs) {
            input.source.settle();
            if (input.source.node) visit(input.source.node.get());
        }
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
    return nodes;
}

std::vector<Group> make_plan(std::span<Node* const> nodes, std::span<const NodePtr> roots, bool fuse) {
    std::unordered_map<const Node*, std::vector<Consumer>> consumers;
    for (Node* node : nodes) {
        for (const Operand& input : node->inputs) {
            if (input.source.node) consumers[input.source.node.get()].push_back({node, &input});
        }
    }
    std::unordered_set<const Node*> wanted;
    for (const NodePtr& root : roots) wanted.insert(root.get());

    std::vector<Group> groups;  // from the last to the first
    std::unordered_map<const Node*, size_t> group_of;
    std::vector<size_t> input_count;
    for (size_t k = nodes.size(); k-- > 0;) {
        Node* node = nodes[k];
        const std::vector<Consumer>& readers = consumers[node];
        const bool held =
            wanted.contains(node) || static_cast<size_t>(node->weak_from_this().use_count()) > readers.size();
        std::string reason;
        if (!fuse) {
            reason = "fusion is off (WEFT_FUSE=0)";
        } else if (readers.empty()) {
            reason = "its value is asked for";
        } else if (node->kind == NodeKind::kReduce) {
            reason = "a reduction ends its kernel";
        } else if (node->kind != NodeKind::kElementwise) {
            reason = "a write to a storage ends its kernel";
        } else {
            const size_t group = group_of[readers[0].node];
            for (const Consumer& reader : readers) {
                if (group_of[reader.node] != group) {
                    reason = "several kernels read it";
                } else if (!joins_as(*node, reader)) {
                    reason = "it is read through another view";
                }
            }
            const Group& into = groups[group];
            // The nodes of a group are from last to first here: its root is the first.
            if (reason.empty() && held && into.nodes.front()->kind != NodeKind::kElementwise) {
                reason = "the program still holds it";
            }
            // What the readers counted as inputs comes from inside the kernel when this node joins.
            const size_t inputs = input_count[group] + outside_inputs(*node) - readers.size();
            if (reason.empty() && (into.nodes.size() >= kMaxGroupNodes || inputs > kMaxGroupInputs)) {
                reason = "the kernel is large enough";
            }
            if (reason.empty()) {
                groups[group].nodes.push_back(node);
                groups[group].stored.push_back(held);
                input_count[group] = inputs;
                group_of[node] = group;
                continue;
            }
        }
        group_of[node] = groups.size();
        input_count.push_back(outside_inputs(*node));
        groups.push_back({{node}, {true}, std::move(reason), {}});
    }
    const size_t count = groups.size();
    for (size_t k = 0; k < count; ++k) {
        Group& group = groups[k];
        std::reverse(group.nodes.begin(), group.nodes.end());
        std::reverse(group.stored.begin(), group.stored.end());
        if (group.nodes.size() == 1 || group.root().kind != NodeKind::kReduce || reduction_fits(group))
            continue;
        Group elements{{group.nodes.begin(), group.nodes.end() - 1},
                       {group.stored.begin(), group.stored.end() - 1},
                       "the reduction walks it in another order",
                       {}};
        elements.stored.back() = true;
        group.nodes = {group.nodes.back()};
        group.stored = {true};
        groups.push_back(std::move(elements));
    }
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.root().sequence < b.root().sequence; });
    return groups;
}

}  // namespace weft
