#include "codegen/interpreter/slots.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace weft::codegen {
namespace {

constexpr int64_t kGranule = 512;                   // elements: of a reduction's block
constexpr int64_t kLeastOfRows = 2048;              // elements: what searches of a row look at together
constexpr int64_t kMostElements = 4096;             // of a block
constexpr int64_t kCacheBytes = int64_t{32} << 10;  // for what a block reads and computes
constexpr int64_t kAlignment = 64;

class Assigner {
public:
    Assigner(BlockProgram& program, std::span<const BlockValue> lasting)
        : program_(program),
          lasting_(lasting.begin(), lasting.end()),
          defined_(program.values),
          last_use_(program.values) {}

    void run() {
        number(program_.prologue);
        number(program_.body);
        for (BlockProgram::Slot& slot : program_.slots) slot.offset = take(slot.itemsize);
        clock_ = 0;
        assign(program_.prologue);
        assign(program_.body);
        const int64_t wanted = kCacheBytes / std::max<int64_t>(bytes_per_element(), 1) / kGranule * kGranule;
        program_.capacity = std::clamp(wanted, program_.axis < 0 ? kLeastOfRows : kGranule, kMostElements);
        std::vector<int64_t> offsets;
        int64_t offset = 0;
        for (const int64_t itemsize : pieces_) {
            offsets.push_back(offset);
            offset += (itemsize * program_.capacity + kAlignment - 1) / kAlignment * kAlignment;
        }
        program_.slot_bytes = offset;
        for (BlockProgram::Slot& slot : program_.slots)
            slot.offset = offsets[static_cast<size_t>(slot.offset)];
    }

private:
    struct Loop {
        size_t start;
        std::vector<BlockValue> from_outside;
    };

    void use(BlockValue value) {
        last_use_[value] = std::max(last_use_[value], clock_);
        for (Loop& loop : loops_) {
            if (loop.start <= defined_[value]) continue;
            loop.from_outside.push_back(value);
            return;
        }
    }

    // Numbers steps in their order, twice the same: first to see how long values are needed.
    void number(const BlockRegion& region) {
        for (const BlockValue argument : region.arguments) defined_[argument] = clock_;
        for (const BlockStep& step : region.steps) {
            ++clock_;
            for (const BlockValue value : step.operands) use(value);
            for (const BlockIndex& index : step.indices) use(index.value);
            if (!step.regions.empty()) {
                loops_.push_back({clock_, {}});
                ++clock_;
                for (const BlockRegion& inner : step.regions) number(inner);
                ++clock_;
                for (const BlockRegion& inner : step.regions) {  // what an iteration gives is read at its end
                    for (const BlockValue value : inner.yields) last_use_[value] = clock_;
                }
                for (const BlockValue value : step.operands) last_use_[value] = clock_;
                for (const BlockValue value : loops_.back().from_outside) last_use_[value] = clock_;
                loops_.pop_back();
            }
            for (const BlockValue value : step.results) {
                defined_[value] = clock_;
                last_use_[value] = std::max(last_use_[value], clock_);
            }
        }
        ++clock_;
        for (const BlockValue value : region.yields) use(value);
    }

    void assign(const BlockRegion& region) {
        for (const BlockStep& step : region.steps) {
            ++clock_;
            if (step.kind == BlockStepKind::kDestination) placed_.insert(step.results[0]);
            if (!step.regions.empty()) {
                ++clock_;
                for (const BlockRegion& inner : step.regions) assign(inner);
                ++clock_;
                place_results(step);
                release();
            } else {
                release();
                place_results(step);
            }
        }
        ++clock_;
        release();
    }

    void place_results(const BlockStep& step) {
        if (!step.varying) return;
        switch (step.kind) {
            case BlockStepKind::kLoop:
            case BlockStepKind::kReduce:
                for (const int64_t itemsize : step.itemsizes) read_ += step.lanes * itemsize;
                for (size_t k = 0; k < step.results.size(); ++k) place(step.results[k], step.itemsizes[k]);
                return;
            case BlockStepKind::kLoad:
                if (step.copied || !step.contiguous) {
                    place(step.results[0], step.itemsize);
                } else {
                    read_ += step.itemsize;
                }
                return;
            case BlockStepKind::kPositions:
            case BlockStepKind::kSpread:
            case BlockStepKind::kGather: place(step.results[0], step.itemsize); return;
            default: return;
        }
    }

    void place(BlockValue value, int64_t itemsize) {
        if (placed_.contains(value)) return;
        const int64_t piece = take(itemsize);
        program_.slots.push_back({value, piece, itemsize});
        if (!lasting_.contains(value)) held_.emplace(last_use_[value], piece);
    }

    int64_t take(int64_t itemsize) {
        std::vector<int64_t>& free = free_[itemsize];
        if (!free.empty()) {
            const int64_t piece = free.back();
            free.pop_back();
            return piece;
        }
        pieces_.push_back(itemsize);
        return static_cast<int64_t>(pieces_.size()) - 1;
    }

    // Of what is not needed any more. A loop may write its result over an operand of the same size.
    void release() {
        while (!held_.empty() && held_.begin()->first <= clock_) {
            const int64_t piece = held_.begin()->second;
            free_[pieces_[static_cast<size_t>(piece)]].push_back(piece);
            held_.erase(held_.begin());
        }
    }

    int64_t bytes_per_element() const {
        int64_t bytes = read_;
        for (const int64_t itemsize : pieces_) bytes += itemsize;
        return bytes;
    }

    BlockProgram& program_;
    std::set<BlockValue> lasting_, placed_;
    std::vector<size_t> defined_, last_use_;
    std::vector<Loop> loops_;
    size_t clock_ = 0;
    int64_t read_ = 0;
    std::vector<int64_t> pieces_;  // their elements' sizes
    std::map<int64_t, std::vector<int64_t>> free_;
    std::multimap<size_t, int64_t> held_;
};

}  // namespace

void assign_slots(BlockProgram& program, std::span<const BlockValue> lasting) {
    Assigner(program, lasting).run();
}

}  // namespace weft::codegen
