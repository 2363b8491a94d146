#include "planning/loop_detector.h"

#include <algorithm>

namespace weft {

namespace {

constexpr uint64_t kSmallestCut = 8;  // nodes: below, handing out a kernel costs more than its work
// On a GPU, where a launch costs what recording some ten operations does: element-wise iterations become one
// kernel, others a graph of their kernels.
constexpr uint64_t kSmallestCutOnGpu = 32;
// Iterations of so few nodes are often no loop over time but a sum of some terms, sum(w * x[i:i + n] for
// ...), which one kernel computes. They are cut when there are more nodes than such a sum has.
constexpr uint64_t kFewNodes = 3, kLongestSum = 32;
constexpr uint64_t kShortestRun = 6;   // nodes that must repeat before they count as iterations
constexpr uint64_t kShortestRow = 24;  // of a single one: a mean of 5 × 5 neighbours adds as many times

uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); }

// What a node does, without what it reads: equal in each iteration of a loop.
uint64_t signature_of(const Node& node) {
    uint64_t hash = static_cast<uint64_t>(node.kind());
    hash = mixed(hash, reinterpret_cast<uintptr_t>(node.op));
    hash = mixed(hash, reinterpret_cast<uintptr_t>(node.reduction()));
    hash = mixed(hash, static_cast<uint64_t>(node.loop));
    for (const int64_t extent : node.shape) hash = mixed(hash, static_cast<uint64_t>(extent));
    return mixed(hash, node.inputs.size());
}

}  // namespace

std::span<const uint64_t> LoopDetector::cuts(const Node& node, uint64_t evaluated) {
    cuts_.clear();
    const uint64_t signature = signature_of(node), index = count_++;
    if (pending_node_count() == 0) first_ = index;  // nothing ties what comes to what was before
    if (period_ != 0 && at(index - period_) != signature) period_ = 0;
    Recorded& entry = ring_[index % kRemembered];
    entry = {signature, node.sequence, {}};
    size_t reads = 0;
    for (const Operand& input : node.inputs) {
        const Node* producer = input.source.node.get();
        if (producer == nullptr || producer->done.load(std::memory_order_acquire)) continue;
        if (reads < entry.reads.size()) entry.reads[reads++] = producer->sequence;
    }
    if (period_ != 0) {
        // Somebody looks now and then: what is counted begins anew there, so that the iterations between two
        // looks are cut alike each time.
        if (smallest_cut_ == kSmallestCutOnGpu && ring_[(index - 1) % kRemembered].sequence <= evaluated)
            last_cut_ = index;
        if ((index - start_) % period_ == 0) {
            if (waits_) {
                begin(index);
            } else {
                reach(index);
            }
        }
    } else if (index % 4 == 3 && find_period()) {
        next_cut_ = 0;
        smallest_cut_ = node.device->is_cpu() ? kSmallestCut : kSmallestCutOnGpu;
        begin(index);
    }
    return cuts_;
}

// The iterations so far are cut too, so that the next one finds its kernels.
void LoopDetector::begin(uint64_t index) {
    waits_ = smallest_cut_ == kSmallestCut && period_ <= kFewNodes && index < start_ + kLongestSum;
    if (waits_) return;
    for (uint64_t iteration = start_; iteration <= index; iteration += period_) reach(iteration);
}

// The start of an iteration, where the graph may be cut; where it was to be cut an iteration ago it is cut
// now.
void LoopDetector::reach(uint64_t index) {
    if (next_cut_ != 0) cuts_.push_back(next_cut_);
    next_cut_ = 0;
    if (index != start_ && index < last_cut_ + smallest_cut_) return;
    last_cut_ = index;
    next_cut_ = ring_[index % kRemembered].sequence;
}

// How many pending values are read across each place where an iteration could begin.
struct LoopDetector::Crossings {
    bool everywhere =
        true;  // otherwise nothing ties the iterations together: there the graph falls apart by itself
    uint64_t narrowest = 0;  // the first place, from the start, with the fewest
};

LoopDetector::Crossings LoopDetector::crossings(uint64_t start, uint64_t period) const {
    const uint64_t first = ring_[start % kRemembered].sequence;
    std::array<uint64_t, 3 * kLongestIteration> last_reader{};
    for (uint64_t k = 1; k < 3 * period; ++k) {
        for (const uint64_t read : ring_[(start + k) % kRemembered].reads) {
            if (read < first) continue;
            uint64_t producer = k;
            while (producer > 0 && ring_[(start + producer) % kRemembered].sequence > read) --producer;
            last_reader[producer] = k;
        }
    }
    std::array<int, 3 * kLongestIteration + 1> change{};
    for (uint64_t producer = 0; producer < 3 * period; ++producer) {
        if (last_reader[producer] == 0) continue;
        ++change[producer + 1];
        --change[last_reader[producer] + 1];
    }
    Crossings found;
    int values = 0;
    std::array<int, kLongestIteration>
        most{};  // in any iteration: the first may read what was evaluated before it
    for (uint64_t place = 0; place < 3 * period; ++place) {
        values += change[place];
        if (place > period && place <= 2 * period) found.everywhere &= values != 0;
        most[place % period] = std::max(most[place % period], values);
    }
    found.narrowest =
        static_cast<uint64_t>(std::min_element(most.begin(), most.begin() + period) - most.begin());
    return found;
}

bool LoopDetector::find_period() {
    const uint64_t last = count_ - 1;
    const uint64_t known = std::min<uint64_t>(count_ - first_, kRemembered);
    if (known <= kShortestRun) return false;
    uint64_t row = 1;  // of equal nodes at the end
    while (row < known && at(last - row) == at(last)) ++row;
    uint64_t apart = 0;  // a period whose iterations nothing ties together: those of its multiples neither
    for (uint64_t period = 1; period <= kLongestIteration && 3 * period <= known; ++period) {
        if (at(last - period) != at(last) || (apart != 0 && period % apart == 0)) continue;
        uint64_t run = 1;
        const uint64_t most = known - 1 - period;
        while (run <= most && at(last - run) == at(last - run - period)) ++run;
        if (run < std::max(2 * period, kShortestRun) || (run + period <= row && row < kShortestRow)) continue;
        // Where the repetition begins is where the first iteration did.
        const uint64_t start = last + 1 - run - period;
        const Crossings values = crossings(start, period);
        if (!values.everywhere) {
            if (apart == 0) apart = period;
            continue;
        }
        period_ = period;
        start_ = start + values.narrowest;
        last_cut_ = start_;
        return true;
    }
    return false;
}

}  // namespace weft
