// Launches one kernel: finds or compiles it, lays out its arguments, and writes down what it did.
#pragma once

#include <memory>
#include <vector>

#include "graph/kernel_parts.h"
#include "graph/kernel_store.h"

namespace weft {

// The kernels that a group of a plan launched, in order, so that the plan's next run need not look for them.
// A group that can run in several ways remembers each under its own number.
class KernelMemo {
public:
    void start(size_t way) {
        if (ways_.size() <= way) ways_.resize(way + 1);
        way_ = way;
        position_ = 0;
    }
    std::shared_ptr<const StoredKernel> next() {
        return position_ < ways_[way_].size() ? ways_[way_][position_++] : nullptr;
    }
    void remember(std::shared_ptr<const StoredKernel> kernel) {
        ways_[way_].push_back(std::move(kernel));
        ++position_;
    }

private:
    std::vector<std::vector<std::shared_ptr<const StoredKernel>>> ways_{1};
    size_t way_ = 0, position_ = 0;
};

// Over `extents`: the grid first, then reduced dimensions. Grid dimensions beyond what a launch takes are
// walked here. `counted` is what the history says of elements and bytes. Equal launches of one plan have
// equal forms, so that the memo may answer for the kernel store.
void launch(const KernelParts& parts, const Dims& extents, const Dims& counted, KernelMemo* memo);
inline void launch(const KernelParts& parts, const Dims& extents, KernelMemo* memo) {
    launch(parts, extents, extents, memo);
}

}  // namespace weft
