#include "planning/group_draft.h"

#include <algorithm>
#include <unordered_set>

#include "planning/pieces.h"
#include "planning/plan_reductions.h"

namespace weft::planning {

double cost_of(const Node& node) {
    if (node.kind() == NodeKind::kArange) return 2;
    if (node.kind() == NodeKind::kGather) return kGatherCost;
    return node.op == nullptr ? 1 : node.op->cost;
}

bool is_full_size(const Operand& operand, const Dims& shape) {
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] > 8 && operand.strides[d] == 0) return false;
    }
    return !operand.is_constant();
}

std::vector<Input> with_inputs_of(std::vector<Input> inputs, const Node& node) {
    std::erase_if(inputs, [&](const Input& input) { return input.source == &node; });
    for (const Operand& operand : node.inputs) {
        if (operand.is_constant()) continue;
        const Source& source = operand.source;
        const void* place = source.node ? static_cast<const void*>(source.node.get()) : source.buffer.get();
        const Input input{place, source.result, operand.offset};
        if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
    }
    return inputs;
}

std::vector<Input> with_inputs_of(std::vector<Input> inputs, const Draft& draft) {
    for (const Input& input : draft.inputs) {
        if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
    }
    return inputs;
}

bool is_full(const Draft& draft, const Node& node) {
    return draft.nodes.size() >= kMaxGroupNodes ||
           with_inputs_of(draft.inputs, node).size() > kMaxGroupInputs;
}

Dims kept_axes(const std::vector<bool>& reduced) {
    Dims axes;
    for (size_t d = 0; d < reduced.size(); ++d) {
        if (!reduced[d]) axes.push_back(static_cast<int64_t>(d));
    }
    return axes;
}

IndexMap kept_map(const Node& node) {
    const Dims axes = kept_axes(node.reduced_axes());
    IndexMap map{Dims(axes.size(), -1), Dims(axes.size()), Dims(axes.size())};
    for (size_t j = 0; j < axes.size(); ++j) {
        if (node.shape[static_cast<size_t>(axes[j])] == 1) continue;
        map.dimension[j] = axes[j];
        map.factor[j] = 1;
    }
    return map;
}

bool moves_along_row(const IndexMap& map, const Draft& draft) {
    if (!draft.walk) return true;
    return std::any_of(map.dimension.begin(), map.dimension.end(),
                       [&](int64_t d) { return d >= 0 && draft.reduced[static_cast<size_t>(d)]; });
}

double evaluations(const IndexMap& map, const Draft& draft) {
    double points = 1;
    const bool of_element = moves_along_row(map, draft);
    for (size_t d = 0; d < draft.shape.size(); ++d) {
        if (!draft.walk || of_element || !draft.reduced[d]) points *= static_cast<double>(draft.shape[d]);
    }
    return points;
}

double repeated_cost(const Node& node, const Draft& draft, const std::vector<IndexMap>& maps) {
    const auto elements = static_cast<double>(element_count(node.result_shape()));
    double all = 0, most = 0;
    for (const IndexMap& map : maps) {
        const double points = evaluations(map, draft);
        all += points;
        most = std::max(most, points);
    }
    if (all <= elements * 1.01) return 0;
    if (elements * 4 < most) return cost_of(node) > 1 ? 1e9 : 1;
    return cost_of(node) * (all - elements) / most;
}

bool covers(const IndexMap& map, const Dims& shape, const Draft& draft) {
    const bool of_element = moves_along_row(map, draft);
    if (of_element && draft.walk && !walks_whole_rows(*draft.walk)) return false;
    double points = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (map.dimension[d] >= 0) points *= static_cast<double>(shape[d]);
    }
    return points == evaluations(map, draft);
}

double work_of(const Draft& draft) {
    double work = 0;
    // What is drawn one word after another waits for memory as much as an addition does.
    const auto cost = [](const Node& node) { return node.kind() == NodeKind::kDraw ? 0 : cost_of(node); };
    for (const Node* node : draft.nodes)
        work += cost(*node) * static_cast<double>(node->results[0].dtype.itemsize());
    return work;
}

double bytes_of(const Draft& draft) {
    int64_t bytes = 0;
    std::unordered_set<const void*> read;
    for (const Node* node : draft.nodes) {
        for (const Operand& input : node->inputs) {
            if (input.strides.size() != node->shape.size()) continue;  // the version before a write
            if (!is_full_size(input, node->shape)) continue;
            const void* const place = input.source.node ? static_cast<const void*>(input.source.node.get())
                                                        : input.source.buffer.get();
            if (!draft.stored.contains(input.source.node.get()) && read.insert(place).second)
                bytes += input.dtype.itemsize();
        }
        if (!draft.stored.at(node)) continue;
        for (const NodeResult& result : node->results) bytes += result.dtype.itemsize();
    }
    return static_cast<double>(bytes);
}

bool same_walk(const ReductionSpace& a, const ReductionSpace& b) {
    return a.reduced_axes == b.reduced_axes && a.lanes == b.lanes && a.block == b.block;
}

bool writes(const Draft& draft) {
    return std::any_of(draft.nodes.begin(), draft.nodes.end(), [&](const Node* node) {
        return !is_pointwise(node->kind()) && !draft.frames.contains(node);
    });
}

bool shares_input(const Node& node, const Draft& draft) {
    // What a gather reads here and there is not read together with anything.
    const auto first = [](const Node& reader) { return reader.kind() == NodeKind::kGather ? 1U : 0U; };
    for (size_t k = first(node); k < node.inputs.size(); ++k) {
        const Operand& input = node.inputs[k];
        if (input.is_constant()) continue;
        for (const Node* member : draft.nodes) {
            for (size_t j = first(*member); j < member->inputs.size(); ++j) {
                const Operand& other = member->inputs[j];
                if (!other.is_constant() && other.source == input.source) return true;
            }
        }
    }
    return false;
}

bool are_twins(const Draft& a, const Draft& b) {
    if (b.nodes.empty() || a.shape != b.shape || a.reduced != b.reduced ||
        a.nodes.size() + b.nodes.size() > kMaxGroupNodes ||
        with_inputs_of(a.inputs, b).size() > kMaxGroupInputs)
        return false;
    if ((!a.frames.empty() || !b.frames.empty()) && !can_share_boxes(a, b)) return false;
    if (a.walk ? !b.walk || !same_walk(*a.walk, *b.walk) || a.collapse != b.collapse : writes(a) || writes(b))
        return false;
    if (a.collapse != 0 && !keeps_collapsed_elements(a, nullptr, b.nodes)) return false;
    return std::any_of(a.nodes.begin(), a.nodes.end(),
                       [&](const Node* node) { return shares_input(*node, b); });
}

bool is_neighbour(const Node& node, const Draft& draft) {
    if (draft.nodes.empty() || draft.shape != node.shape || !draft.frames.empty()) return false;
    const Node& last = *draft.nodes.front();
    if (node.kind() == NodeKind::kReduce) {
        return draft.reduced == node.reduced_axes() && draft.walk && same_walk(*draft.walk, space_of(node)) &&
               (draft.collapse == 0 || keeps_collapsed_elements(draft, &node));
    }
    return !draft.walk && last.kind() != NodeKind::kArange && last.kind() != NodeKind::kDraw &&
           is_pointwise(last.kind());
}

}  // namespace weft::planning
