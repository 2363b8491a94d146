#include "planning/explain.h"

#include <vector>

#include "core/config.h"
#include "core/shape.h"
#include "graph/evaluation_lock.h"
#include "planning/rewritten_graph.h"

namespace weft {

namespace {

std::string node_name(const Node& node) {
    switch (node.kind()) {
        case NodeKind::kElementwise:
            return node.op != nullptr ? std::string(node.op->name)
                                      : (node.inputs[0].is_constant() ? "fill" : "convert");
        case NodeKind::kReduce: return std::string(node.reduction()->name);
        case NodeKind::kUpdate: return "write";
        case NodeKind::kArange: return "arange";
        case NodeKind::kDraw: return std::string(node.op->name);
        case NodeKind::kScan: return "scan of " + std::string(node.op->name);
        case NodeKind::kProduct: return "product";
        case NodeKind::kGather: return "gather";
        case NodeKind::kCompress: return node.inputs.size() > 1 ? "compress" : "compress positions";
        case NodeKind::kTransfer: return "copy to " + node.device->name();
    }
    return "";
}

}  // namespace

std::string describe(const Group& group, size_t number) {
    std::string text = "kernel " + std::to_string(number) + ": ";
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        text += (k == 0 ? "" : ", ") + node_name(*group.nodes[k]);
    }
    const Node& root = group.root();
    text += "\n  over " + shape_text(group.shape);
    if (!group.device->is_cpu()) text += " on " + group.device->name();
    if (!group.boxes.empty()) text += " in " + std::to_string(group.boxes.size()) + " box(es)";
    if (group.reduces) {
        text += ", reducing axes";
        for (size_t d = 0; d < group.reduced.size(); ++d) {
            if (group.reduced[d]) text += " " + std::to_string(d);
        }
    }
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        const Node& node = *group.nodes[k];
        if (!group.stored[k]) continue;
        if (node.kind() == NodeKind::kUpdate) {
            text +=
                "; writes " + std::string(node.update().target.dtype.name()) + " " + shape_text(node.shape);
            if (!node.gathered().empty()) text += " at computed positions";
            continue;
        }
        if (node.kind() == NodeKind::kCompress) {
            text += "; compresses " + std::string(node.results[0].dtype.name());
            continue;
        }
        for (const NodeResult& result : node.results)
            text += "; result " + std::string(result.dtype.name()) + " " + shape_text(node.result_shape());
        if (group.streamed[k]) text += ", written by non-temporal stores";
        if (&node != &root) text += " (" + node_name(node) + ")";
    }
    for (const Node* node : group.nodes) {
        if (node->rewritten != nullptr) text += std::string("\n  rewritten, ") + node->rewritten;
    }
    text += "\n  ends here because " + std::string(text_of(group.boundary)) + "\n";
    return text;
}

std::string explain_plan(std::span<const NodePtr> roots) {
    const EvaluationLock lock;
    const bool fuse = config().fuse.load(std::memory_order_relaxed);
    RewrittenGraph graph;
    const NodeSet& nodes = graph.collect(roots, fuse);
    if (nodes.empty()) return "nothing is pending: the values are in memory\n";
    const std::vector<Group> groups = make_plan(nodes, roots, fuse);
    std::string text = std::to_string(nodes.size()) + " pending operation(s) in " +
                       std::to_string(groups.size()) + " kernel(s)\n";
    for (size_t k = 0; k < groups.size(); ++k) text += describe(groups[k], k + 1);
    return text;
}

}  // namespace weft
