// Finds the turns of a program's loops in what it records, so that evaluation can cut the graph where turns
// meet: each turn is then the same graph, and meets the kernels of the turn before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "graph/node.h"

namespace weft {

// What a node does, without what it reads: equal in each turn of a loop.
uint64_t signature_of(const Node& node);

class TurnDetector {
public:
    // To be called for each recorded node. True when a turn starts with it, and enough was recorded since the
    // last cut to be worth one.
    bool starts_turn(uint64_t signature);

private:
    static constexpr size_t kRemembered = 512;
    uint64_t at(uint64_t index) const { return ring_[index % kRemembered]; }
    void find_period();

    std::array<uint64_t, kRemembered> ring_{};
    uint64_t count_ = 0;
    uint64_t period_ = 0;  // in nodes; 0: none is known
    uint64_t start_ = 0;   // of a turn
    uint64_t last_cut_ = 0;
};

}  // namespace weft
