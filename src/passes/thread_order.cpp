#include "passes/thread_order.h"

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/intrinsic.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

constexpr int kLeastNeighbours = 8;  // that lie side by side afterwards, or it is not worth while
constexpr int kWeightOfLoop = 8;

bool is_number_of_thread(const Instruction& instruction) {
    return instruction.opcode == Opcode::kIntrinsic && instruction.intrinsic == Intrinsic::kThreadNumber;
}

// Which axes of the thread's numbers a value depends on, by bits; and along which of them accesses to memory
// lie side by side.
class Accesses {
public:
    explicit Accesses(const Function& function) : function_(function), axes_(function.values.size(), 0) {}

    void run(const Region& region, int weight) {
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kConstant && !is_buffer(instruction.results[0]) &&
                instruction.constant.type == ScalarType::kInt64)
                known_[instruction.results[0].index] = instruction.constant.as<int64_t>();
            unsigned axes = 0;
            for (const ValueId operand : instruction.operands) axes |= axes_[operand.index];
            if (is_number_of_thread(instruction)) {
                const auto axis = known_.find(instruction.operands[0].index);
                axes = axis == known_.end() ? 0 : 1U << axis->second;
            }
            is_free_ &= !prevents(instruction);
            const int inside = is_loop(instruction.opcode) ? weight * kWeightOfLoop : weight;
            for (const Region& inner : instruction.regions) {
                for (const ValueId argument : inner.arguments) axes_[argument.index] |= axes;
                run(inner, inside);
            }
            for (const ValueId result : instruction.results) axes_[result.index] |= axes;
            vote(instruction, weight);
        }
    }

    bool is_free() const { return is_free_; }
    // How many more accesses lie side by side along the second axis than along the first.
    int votes() const { return votes_; }

private:
    bool is_buffer(ValueId value) const { return function_.type(value).is_buffer; }

    // Threads that meet, or have memory in common, may be told apart by their places in warps.
    static bool prevents(const Instruction& instruction) {
        switch (instruction.opcode) {
            case Opcode::kBarrier:
            case Opcode::kCall:
            case Opcode::kSpread: return true;
            case Opcode::kIntrinsic:
                return instruction.intrinsic != Intrinsic::kThreadNumber &&
                       instruction.intrinsic != Intrinsic::kBlockNumber &&
                       instruction.intrinsic != Intrinsic::kBlockMemory &&
                       instruction.intrinsic != Intrinsic::kThreadMemory;
            default: return false;
        }
    }

    void vote(const Instruction& instruction, int weight) {
        const size_t first = opcode_info(instruction.opcode).index;
        if (first == 0 || instruction.operands.empty() || !is_buffer(instruction.operands[0])) return;
        const BufferType& type = function_.type(instruction.operands[0]).buffer;
        const size_t rank = type.strides.size();
        if (type.space != AddressSpace::kGlobal || rank == 0 || type.strides.back() == kDynamic) return;
        const unsigned axes = axes_[instruction.operands[first + rank - 1].index];
        if ((axes & 3U) == 1U) votes_ -= weight;
        if ((axes & 3U) == 2U) votes_ += weight;
    }

    const Function& function_;
    std::vector<unsigned> axes_;
    std::unordered_map<uint32_t, int64_t> known_;
    bool is_free_ = true;
    int votes_ = 0;
};

}  // namespace

bool order_threads(Function& entry, const std::array<int, 3>& block) {
    if (block[0] <= 1 || block[1] < kLeastNeighbours) return false;
    Accesses accesses(entry);
    accesses.run(entry.body, 1);
    if (!accesses.is_free() || accesses.votes() <= 0) return false;
    std::vector<Instruction> old = std::move(entry.body.body);
    entry.body.body.clear();
    Builder builder(entry, entry.body.body);
    const auto hardware = [&](int64_t axis) {
        const ValueId operand = builder.index(axis);
        return builder.intrinsic(Intrinsic::kThreadNumber, std::span(&operand, 1))[0];
    };
    // The hardware's first axis is the fastest; now the program's second one is.
    const ValueId linear = builder.apply(
        OpId::kAdd, {builder.apply(OpId::kMultiply, {hardware(1), builder.index(block[0])}), hardware(0)});
    const ValueId size = builder.index(block[1]);
    const std::array numbers = {builder.apply(OpId::kFloorDivide, {linear, size}),
                                builder.apply(OpId::kRemainder, {linear, size})};
    // What asks for a number stands in the body itself, behind the constant that is its axis.
    Substitution replaced;
    std::unordered_map<uint32_t, int64_t> known;
    for (Instruction& instruction : old) {
        if (instruction.opcode == Opcode::kConstant && instruction.constant.type == ScalarType::kInt64)
            known[instruction.results[0].index] = instruction.constant.as<int64_t>();
        if (!is_number_of_thread(instruction)) continue;
        const auto axis = known.find(instruction.operands[0].index);
        if (axis != known.end() && axis->second < 2)
            replaced.set(instruction.results[0], numbers[static_cast<size_t>(axis->second)]);
    }
    const std::function<void(std::vector<Instruction>&)> replace = [&](std::vector<Instruction>& body) {
        for (Instruction& instruction : body) {
            replaced.apply(instruction.operands);
            for (Region& inner : instruction.regions) replace(inner.body);
        }
    };
    replace(old);
    for (Instruction& instruction : old) {
        const bool is_gone =
            is_number_of_thread(instruction) && !(replaced(instruction.results[0]) == instruction.results[0]);
        if (!is_gone) entry.body.body.push_back(std::move(instruction));
    }
    return true;
}

}  // namespace weft::passes
