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

// An element-wise kernel that is run box by box on the threads of somebody else's tasks, each with one of its
// inputs at another place.
class TiledLaunch {
public:
    TiledLaunch(const KernelParts& parts, const Dims& extents, size_t moving_input, KernelMemo* memo);

    // `origin` is the address that the moving input's element 0, 0 would have, and `stride` leads to its next
    // row.
    void run(const GridBox& box, int64_t origin, int64_t stride) const;

    // What to write down, but for the time; the moving input counts for nothing.
    LaunchRecord record() const { return record_; }

private:
    std::vector<KernelWord> words_;
    size_t moving_word_ = 0;
    LaunchRecord record_;
};

}  // namespace weft
