#include "passes/threads/thread_memory.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/intrinsic.h"

namespace weft::passes {

using namespace ir;

namespace {

constexpr int64_t kMostBytes = 4096, kMostBytesOfAll = 16 << 10;

bool counts(const Instruction& instruction) {
    return instruction.opcode == Opcode::kRetain || instruction.opcode == Opcode::kRelease;
}

// Atomic operations of GPUs are none of a thread's own memory.
bool reads_or_writes(const Instruction& instruction) {
    return instruction.opcode == Opcode::kLoad || instruction.opcode == Opcode::kStore;
}

// The blocks of memory whose place is known while the function is compiled: nothing but accesses, views and
// counts of their users knows them.
class OwnMemory {
public:
    explicit OwnMemory(const Function& function) {
        look(function.body);
        for (const auto& [owner, bytes] : bytes_) {
            if (leaves_.contains(owner) || sum_ + bytes > kMostBytesOfAll) continue;
            sum_ += bytes;
            own_.insert(owner);
        }
    }

    bool any() const { return !own_.empty(); }
    bool has(ValueId owner) const { return own_.contains(owner.index); }

private:
    void look(const Region& region) {
        for (const Instruction& each : region.body) {
            if (each.opcode == Opcode::kConstant && each.constant.type == ScalarType::kInt64)
                constants_[each.results[0].index] = each.constant.as<int64_t>();
            for (size_t i = 0; i < each.operands.size(); ++i) {
                const auto found = block_of_.find(each.operands[i].index);
                if (found == block_of_.end()) continue;
                const uint32_t block = found->second;
                if (each.opcode == Opcode::kView && i == 0) {
                    block_of_[each.results[0].index] = block;
                } else if (!counts(each) && !(reads_or_writes(each) && i == 0)) {
                    leaves_.insert(block);
                }
            }
            if (each.opcode == Opcode::kHeap) add(each);
            for (const Region& inner : each.regions) look(inner);
        }
    }

    void add(const Instruction& heap) {
        const auto bytes = constants_.find(heap.operands[0].index);
        if (heap.grows || heap.owners.count > 0 || bytes == constants_.end()) return;
        if (bytes->second < 0 || bytes->second > kMostBytes) return;
        const uint32_t owner = heap.results[0].index;
        bytes_[owner] = bytes->second;
        block_of_[owner] = block_of_[heap.results[1].index] = owner;
    }

    std::map<uint32_t, int64_t> constants_, bytes_;  // by value; by owner
    std::map<uint32_t, uint32_t> block_of_;          // owners of what values name
    std::set<uint32_t> leaves_, own_;
    int64_t sum_ = 0;
};

void replace(Function& function, Region& region, const OwnMemory& own) {
    std::vector<Instruction> body;
    for (Instruction& each : region.body) {
        for (Region& inner : each.regions) replace(function, inner, own);
        if (counts(each) && own.has(each.operands[0])) continue;
        if (each.opcode != Opcode::kHeap || !own.has(each.results[0])) {
            body.push_back(std::move(each));
            continue;
        }
        const ValueId address = function.add_value(Type::of(ScalarType::kInt64));
        body.push_back({.opcode = Opcode::kIntrinsic,
                        .operands = {each.operands[0]},
                        .results = {address},
                        .intrinsic = Intrinsic::kThreadMemory,
                        .line = each.line});
        std::vector<ValueId> operands = std::move(each.operands);
        operands[0] = address;  // the strides follow
        body.push_back({.opcode = Opcode::kMemory,
                        .operands = std::move(operands),
                        .results = {each.results[1]},
                        .line = each.line});
    }
    region.body = std::move(body);
}

}  // namespace

void thread_memory(const Module&, Function& function) {
    const OwnMemory own(function);
    if (own.any()) replace(function, function.body, own);
}

}  // namespace weft::passes
