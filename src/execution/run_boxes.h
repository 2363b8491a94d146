// Groups that read through writes (planning/pieces.h) run box by box. Within a box every read is a plain
// view, so a box is a launch like any other, and boxes that read alike share a kernel.
#pragma once

#include <algorithm>
#include <vector>

#include "execution/kernels/kernel_arguments.h"
#include "execution/kernels/launch_replay.h"

namespace weft {

// Calls `describe(StepBuilder&, KernelParts&)` for each of the group's boxes, or once where it has none.
template <class Describe>
std::vector<KernelParts> describe_boxes(const Group& group, const Describe& describe) {
    std::vector<KernelParts> boxes(std::max<size_t>(group.boxes.size(), 1));
    for (size_t k = 0; k < boxes.size(); ++k) {
        StepBuilder steps(boxes[k], group, group.boxes.empty() ? nullptr : &group.boxes[k]);
        describe(steps, boxes[k]);
    }
    return boxes;
}

// Launches what was described, over the group's shape.
void launch_boxes(std::vector<KernelParts> boxes, const Group& group, GroupRun& run);

}  // namespace weft
