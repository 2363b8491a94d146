// Lays out a kernel's arguments, launches it and writes down what it did.
#pragma once

#include <memory>
#include <vector>

#include "execution/kernels/kernel_arguments.h"
#include "execution/kernels/kernel_store.h"

namespace weft {

// An argument that is another one when the same graph is evaluated again: an address in a buffer, or the
// constant operand of a node.
struct WordOrigin {
    uint32_t word = 0;
    const Buffer* buffer = nullptr;
    int64_t offset = 0;              // bytes from the buffer's start
    const Node* consumer = nullptr;  // of a constant
    uint32_t operand = 0;
};

// A launch with all that it needs, but for what `origins` tells of.
struct PreparedLaunch {
    LaunchRecord record;  // but for the time
    // For GPUs, where the kernel depends on the words, too: it is found when they are known.
    std::shared_ptr<const KernelForm> form;
    std::vector<ArgumentWord> words;
    std::vector<WordOrigin> origins;
    Dims grid, tile;
    int64_t cost = 0;
    GridHints hints;  // without the tile
};

// Over `extents`: the grid first, then reduced dimensions; at most kMaxGridDimensions of the grid. `counted`
// is what the history says of elements and bytes.
// Without a kernel, for a GPU.
PreparedLaunch prepare(const KernelParts& parts, const Dims& extents, const Dims& counted,
                       std::shared_ptr<const StoredKernel> kernel);
// What the launch's form says comes `then`, on a GPU.
void append_second(PreparedLaunch& launch, const KernelParts& parts, const Dims& extents);
// `fresh`: the kernel was compiled for this launch; set where it is found only now.
void run_prepared(PreparedLaunch& launch, bool& fresh);
// Finds the kernel too; nothing is remembered.
void launch_once(const KernelParts& parts, const Dims& extents, const Dims& counted);
// Walks the grid dimensions beyond what a launch takes.
void launch_collapsed(const KernelParts& parts, const Dims& extents, const Dims& counted);

// An element-wise kernel that is run box by box on the threads of somebody else's tasks, each with one of its
// inputs at another place.
class TiledLaunch {
public:
    TiledLaunch(const KernelParts& parts, const Dims& extents, size_t moving_input,
                std::shared_ptr<const StoredKernel> kernel, bool fresh);

    // `origin` is the address that the moving input's element 0, 0 would have, and `stride` leads to its next
    // row.
    void run(const GridBox& box, int64_t origin, int64_t stride) const;

    // What to write down, but for the time; the moving input counts for nothing.
    LaunchRecord record() const { return record_; }

private:
    std::vector<ArgumentWord> words_;
    size_t moving_word_ = 0;
    LaunchRecord record_;
};

}  // namespace weft
