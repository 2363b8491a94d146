// What element-wise groups and writes share: outputs of stored nodes, and the launch over all dimensions.
#pragma once

#include "execution/kernels/kernel_arguments.h"
#include "execution/kernels/launch_replay.h"
#include "execution/run_group.h"

namespace weft {

// The stored nodes' results become outputs, with strides over the group's space.
void add_result_outputs(KernelParts& parts, StepBuilder& steps, const Group& group,
                        const GroupBuffers& buffers);

// Merges dimensions of the iteration, in the order of the first output, unless it is to be C order.
void collapse_uses(KernelParts& parts, Dims& extents);
// Whether the kernel asks memory for what it comes to next.
bool asks_ahead(const KernelParts& parts, const Dims& extents);
// Launches over `shape`, of whose dimensions the first output decides the order, unless it is to be C order.
void launch_elementwise(KernelParts& parts, const Dims& shape, GroupRun& run);

}  // namespace weft
