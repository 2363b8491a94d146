// Finds the iterations of a program's loops in what it records, so that evaluation can cut the graph where
// iterations meet: each iteration is then the same graph, and meets the kernels of the iteration before. Only
// iterations that go on from the one before count: lines that are alike but independent (five sums of one
// table) belong into one kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.h"

namespace weft {

class LoopDetector {
public:
    // To be called for each recorded node. Before which nodes (by Node::sequence) the graph is to be cut now:
    // where an iteration starts with this one, the start of the iteration before, if enough was recorded
    // until there; several where a loop has just been noticed. What that iteration called by names has other
    // values by now, and need not be stored. `evaluated`: the latest node that an evaluation of this thread
    // was about.
    std::span<const uint64_t> cuts(const Node& node, uint64_t evaluated);

private:
    static constexpr size_t kRemembered = 512;
    static constexpr uint64_t kLongestIteration = 128;  // nodes
    struct Recorded {
        uint64_t signature = 0, sequence = 0;
        std::array<uint64_t, 3> reads{};  // sequences of pending inputs
    };
    uint64_t at(uint64_t index) const { return ring_[index % kRemembered].signature; }
    bool find_period();
    struct Crossings;
    Crossings crossings(uint64_t start, uint64_t period) const;
    void begin(uint64_t index);
    void reach(uint64_t index);

    std::array<Recorded, kRemembered> ring_{};
    std::vector<uint64_t> cuts_;
    uint64_t count_ = 0;
    uint64_t first_ = 0;         // when this one was recorded nothing was pending
    uint64_t period_ = 0;        // in nodes; 0: none is known
    uint64_t smallest_cut_ = 0;  // nodes, while a period is known
    uint64_t start_ = 0;         // of an iteration
    bool waits_ = false;         // it may be a sum of some terms
    uint64_t last_cut_ = 0;
    uint64_t next_cut_ = 0;  // a sequence: to be cut there when the next iteration starts; 0: none
};

}  // namespace weft
