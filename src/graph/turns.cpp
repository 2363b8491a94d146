#include "graph/turns.h"

#include <algorithm>

namespace weft {

namespace {

constexpr uint64_t kLongestTurn = 128;  // nodes
constexpr uint64_t kSmallestCut = 8;    // nodes: below, handing out a kernel costs more than its work
constexpr uint64_t kShortestRun = 6;    // nodes that must repeat before they count as turns

uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); }

// What a node does, without what it reads: equal in each turn of a loop.
uint64_t signature_of(const Node& node) {
    uint64_t hash = static_cast<uint64_t>(node.kind);
    hash = mixed(hash, reinterpret_cast<uintptr_t>(node.op));
    hash = mixed(hash, reinterpret_cast<uintptr_t>(node.reduction));
    hash = mixed(hash, static_cast<uint64_t>(node.loop));
    for (const int64_t extent : node.shape) hash = mixed(hash, static_cast<uint64_t>(extent));
    return mixed(hash, node.inputs.size());
}

}  // namespace

std::span<const uint64_t> TurnDetector::cuts(const Node& node) {
    cuts_.clear();
    const uint64_t signature = signature_of(node), index = count_++;
    if (period_ != 0 && at(index - period_) != signature) period_ = 0;
    ring_[index % kRemembered] = {signature, node.sequence};
    if (period_ != 0) {
        if ((index - start_) % period_ == 0) cut_at(index);
    } else if (index % 4 == 3 && find_period()) {
        // The turns so far are cut too, so that the next one finds its kernels.
        for (uint64_t turn = start_; turn <= index; turn += period_) cut_at(turn);
    }
    return cuts_;
}

void TurnDetector::cut_at(uint64_t index) {
    if (index != start_ && index < last_cut_ + kSmallestCut) return;
    last_cut_ = index;
    cuts_.push_back(ring_[index % kRemembered].sequence);
}

bool TurnDetector::find_period() {
    const uint64_t last = count_ - 1;
    for (uint64_t period = 1; period <= kLongestTurn && 3 * period <= count_; ++period) {
        if (at(last - period) != at(last)) continue;
        uint64_t run = 1;
        const uint64_t most = std::min<uint64_t>(last - period, kRemembered - 1 - period);
        while (run <= most && at(last - run) == at(last - run - period)) ++run;
        if (run < std::max(2 * period, kShortestRun)) continue;
        period_ = period;
        // Where the repetition begins is where the first turn did.
        start_ = last + 1 - run - period;
        last_cut_ = start_;
        return true;
    }
    return false;
}

}  // namespace weft
