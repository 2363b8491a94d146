#include "planning/gather_pushdown.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "graph/index_map.h"
#include "planning/algebraic_rewrites.h"

namespace weft {

namespace {

// An element costs a cache line when it is read here and there, and its own bytes when all are walked.
constexpr int64_t kScattered = 8;

// A pending element-wise value that nobody but the gather refers to.
Node* only_gathered(const Node& gather) {
    const Operand& data = gather.inputs[0];
    Node* node = data.source.node.get();
    if (node == nullptr || node->kind() != NodeKind::kElementwise ||
        node->done.load(std::memory_order_acquire))
        return nullptr;
    const bool own = data.source.node.use_count() == 1 && node->results.size() == 1;
    return own && data.dtype == node->results[0].dtype ? node : nullptr;
}

bool broadcasts(const Operand& operand, const Dims& shape) {
    if (operand.is_constant()) return true;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] > kScattered && operand.strides[d] == 0) return true;
    }
    return false;
}

// One scattered read in place of another, for no more elements than before; or far fewer elements.
bool pays(const Node& gather, const Node& producer) {
    const auto reads =
        std::count_if(producer.inputs.begin(), producer.inputs.end(),
                      [&](const Operand& input) { return !broadcasts(input, producer.shape); });
    const int64_t read = element_count(gather.shape), computed = element_count(producer.shape);
    return reads <= 1 ? read <= computed : read <= computed / (kScattered * reads);
}

// What `operand` of the producer is at the gathered positions: read through strides alone where no index
// moves it, else a gather of its own. `map` is over the dimensions of the gather and then over its gathered
// axes.
Operand at_positions(const Node& gather, const Operand& operand, const IndexMap& map) {
    const size_t rank = gather.shape.size();
    Operand moved = operand;
    if (operand.is_constant()) {
        moved.strides = Dims(rank);
        return moved;
    }
    const Dims strides = strides_over_space(operand.strides, map, rank + gather.gathered().size());
    moved.strides = Dims(std::span(strides.begin(), rank));
    moved.offset = offset_over_space(operand.strides, operand.offset, map);
    auto node = new_node();
    node->become(NodeKind::kGather);
    for (size_t k = 0; k < gather.gathered().size(); ++k) {
        if (strides[rank + k] == 0) continue;
        node->inputs.push_back(gather.inputs[k + 1]);
        node->add_gathered({gather.gathered()[k].extent, strides[rank + k], gather.gathered()[k].wraps});
    }
    if (node->gathered().empty()) return moved;
    node->device = gather.device;
    node->shape = gather.shape;
    node->inputs.insert(node->inputs.begin(), std::move(moved));
    NodeResult result;
    result.dtype = operand.dtype;
    const Dims* const order[1] = {&gather.results[0].strides};
    result.strides = k_order_strides(gather.shape, order, result.dtype.itemsize());
    result.bytes = checked_bytes(gather.shape, result.dtype);
    Operand whole;
    whole.dtype = result.dtype;
    whole.strides = result.strides;
    node->results.push_back(std::move(result));
    enter_pending(node);
    node->sequence = gather.sequence - 1;
    whole.source.node = node;
    return whole;
}

// Whether a new node has a number between those of all that it may read and that of the gather. What it reads
// can be the gather's own positions, recorded after all else: one more than theirs would not do for a chain
// of new nodes.
bool has_number_before(const Node& gather, const Node& producer) {
    const auto earlier = [&](const Operand& input) {
        return !input.source.node || input.source.node->sequence + 1 < gather.sequence;
    };
    return std::all_of(gather.inputs.begin(), gather.inputs.end(), earlier) &&
           std::all_of(producer.inputs.begin(), producer.inputs.end(), earlier);
}

bool exchange(Node& gather, std::vector<std::weak_ptr<Node>>& work) {
    const Node* const producer = only_gathered(gather);
    if (producer == nullptr || !pays(gather, *producer) || !has_number_before(gather, *producer))
        return false;
    Operand positions = gather.inputs[0];
    Dims space = gather.shape;
    for (const GatheredAxis& axis : gather.gathered()) {
        space.push_back(axis.extent);
        positions.strides.push_back(axis.stride);
    }
    const std::optional<IndexMap> map =
        read_map(positions, space, producer->results[0], producer->result_shape());
    if (!map) return false;
    Operands inputs;
    for (const Operand& operand : producer->inputs) {
        inputs.push_back(at_positions(gather, operand, *map));
        const NodePtr& fresh = inputs.back().source.node;
        if (fresh && fresh->kind() == NodeKind::kGather) work.push_back(fresh);
    }
    gather.become(NodeKind::kElementwise);
    gather.op = producer->op;
    gather.loop = producer->loop;
    positions = {};
    gather.inputs.swap(inputs);  // the producer goes with the old ones
    return true;
}

}  // namespace

bool push_gathers_down(std::span<Node* const> nodes) {
    if (!is_on(OptimisationSwitch::kGatherPushdown)) return false;
    std::vector<std::weak_ptr<Node>> work;
    for (Node* node : nodes) {
        if (node->kind() == NodeKind::kGather) work.push_back(node->weak_from_this());
    }
    bool changed = false;
    while (!work.empty()) {
        const NodePtr node = work.back().lock();
        work.pop_back();
        if (node != nullptr && node->kind() == NodeKind::kGather) changed |= exchange(*node, work);
    }
    return changed;
}

}  // namespace weft
