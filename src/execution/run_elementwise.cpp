#include "execution/run_elementwise.h"

#include <algorithm>
#include <cstdlib>

#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "execution/kernels/launch.h"
#include "execution/run_boxes.h"

namespace weft {

void add_result_outputs(KernelParts& parts, StepBuilder& steps, const Group& group,
                        const GroupBuffers& buffers) {
    for (size_t k = group.nodes.size(); k-- > 0;) {
        const Node& node = *group.nodes[k];
        if (!group.stored[k] || node.kind() == NodeKind::kUpdate) continue;
        for (size_t r = 0; r < buffers[k].size(); ++r) {
            const NodeResult& result = node.results[r];
            parts.outputs.push_back(
                use_of(*buffers[k][r], 0, result.dtype,
                       strides_over_space(result.strides, group.maps[k], group.shape.size())));
            parts.outputs.back().streamed = group.streamed[k];
            parts.form.outputs.push_back({steps.value_of(node, static_cast<uint32_t>(r), group.maps[k]), {}});
        }
    }
}

namespace {

// Whether the kernel reads neighbouring rows of one array (a stencil) that is in an outer cache, with what it
// writes: there the processor's own prefetching falls short.
bool walks_near_rows(const KernelParts& parts, const Dims& extents) {
    if (extents.size() < 2) return false;
    int64_t itemsizes = 0;
    bool near = false;
    for (const BufferUse& use : parts.outputs) itemsizes += use.dtype.itemsize();
    for (size_t k = 0; k < parts.inputs.size(); ++k) {
        const BufferUse& use = parts.inputs[k];
        if (use.position || use.strides.back() == 0) continue;
        const auto first = std::find_if(parts.inputs.begin(), parts.inputs.begin() + static_cast<int64_t>(k),
                                        [&](const BufferUse& other) {
                                            return other.buffer == use.buffer && other.strides == use.strides;
                                        });
        if (first == parts.inputs.begin() + static_cast<int64_t>(k)) {
            itemsizes += use.dtype.itemsize();
        } else {
            near |= std::abs(first->base - use.base) >= std::abs(use.strides[use.strides.size() - 2]);
        }
    }
    const int64_t bytes = element_count(extents) * itemsizes;
    return near && bytes > cpu_device().core_cache_bytes() && bytes <= cpu_device().cache_bytes();
}

}  // namespace

bool asks_ahead(const KernelParts& parts, const Dims& extents) {
    return parts.outputs[0].computed.empty() && is_on(OptimisationSwitch::kPrefetch) &&
           walks_near_rows(parts, extents);
}

void collapse_uses(KernelParts& parts, Dims& extents) {
    std::vector<BufferUse*> uses;
    for (BufferUse& use : parts.inputs) uses.push_back(&use);
    for (BufferUse& use : parts.outputs) uses.push_back(&use);
    BufferUse layout_operand = parts.outputs[0];
    if (parts.in_order || !layout_operand.computed.empty()) layout_operand.strides = c_strides(extents, 1);
    collapse(extents, uses, layout_operand);
}

void launch_elementwise(KernelParts& parts, const Dims& shape, GroupRun& run) {
    Dims extents = shape;
    collapse_uses(parts, extents);
    parts.form.shape = KernelShape::kElementwise;
    parts.form.grid_rank = static_cast<int>(extents.size());
    parts.outputs[0].prefetch = asks_ahead(parts, extents);
    finish_forms(parts, false);
    run.launch(parts, extents);
}

void run_elementwise(Group& group) {
    GroupBuffers& buffers = reserve_results(group);
    GroupRun run(group, buffers);
    if (!run.replay() && element_count(group.shape) != 0) {
        launch_boxes(describe_boxes(group,
                                    [&](StepBuilder& steps, KernelParts& parts) {
                                        add_result_outputs(parts, steps, group, buffers);
                                    }),
                     group, run);
    }
    run.finish();
    commit_all(group);
}

}  // namespace weft
