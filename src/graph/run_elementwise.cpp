#include "graph/run_elementwise.h"

#include "core/shape.h"
#include "graph/launch.h"

namespace weft {

void add_result_outputs(KernelParts& parts, StepBuilder& steps, const Group& group,
                        const GroupBuffers& buffers) {
    for (size_t k = group.nodes.size(); k-- > 0;) {
        const Node& node = *group.nodes[k];
        if (!group.stored[k] || node.kind == NodeKind::kUpdate) continue;
        for (size_t r = 0; r < buffers[k].size(); ++r) {
            const NodeResult& result = node.results[r];
            parts.outputs.push_back(
                use_of(*buffers[k][r], 0, result.dtype,
                       strides_over_space(result.strides, group.maps[k], group.shape.size())));
            parts.form.outputs.push_back({steps.value_of(node, static_cast<uint32_t>(r), group.maps[k]), {}});
        }
    }
}

void launch_elementwise(KernelParts& parts, const Dims& shape, KernelMemo* memo) {
    std::vector<BufferUse*> uses;
    for (BufferUse& use : parts.inputs) uses.push_back(&use);
    for (BufferUse& use : parts.outputs) uses.push_back(&use);
    Dims extents = shape;
    const BufferUse leader = parts.outputs[0];
    collapse(extents, uses, leader);
    parts.form.shape = KernelShape::kElementwise;
    parts.form.grid_rank = static_cast<int>(extents.size());
    finish_forms(parts, false);
    launch(parts, extents, memo);
}

void run_elementwise(const Group& group) {
    KernelParts parts;
    StepBuilder steps(parts, group);
    GroupBuffers buffers = reserve_results(group);
    add_result_outputs(parts, steps, group, buffers);
    if (element_count(group.shape) != 0) launch_elementwise(parts, group.shape, group.memo.get());
    commit_all(group, buffers);
}

}  // namespace weft
