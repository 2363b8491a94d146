#include "codegen/llvm/draw_streams.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "ops/op.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

std::optional<DrawOp> draw_op(const Instruction& instruction) {
    if (instruction.opcode != Opcode::kApply) return std::nullopt;
    switch (instruction.op->id) {
        case OpId::kPcg64Word: return DrawOp{Stream::kPcg64, false};
        case OpId::kPcg64Half: return DrawOp{Stream::kPcg64, true};
        case OpId::kPcg64dxsmWord: return DrawOp{Stream::kPcg64Dxsm, false};
        case OpId::kPcg64dxsmHalf: return DrawOp{Stream::kPcg64Dxsm, true};
        case OpId::kPhiloxWord: return DrawOp{Stream::kPhilox, false};
        case OpId::kPhiloxHalf: return DrawOp{Stream::kPhilox, true};
        default: return std::nullopt;
    }
}

DrawingBody::DrawingBody(const Region& region, ValueId along) : along_(along) {
    for (const Instruction& instruction : region.body) {
        if (!instruction.regions.empty() || instruction.opcode == Opcode::kAllocate) return;
        for (const ValueId result : instruction.results) defined_[result.index] = &instruction;
    }
    for (const Instruction& instruction : region.body) {
        const std::optional<DrawOp> op = draw_op(instruction);
        if (!op || steps_of(instruction.operands[0]) != 1) continue;
        const bool same_stream = std::all_of(instruction.operands.begin() + 1, instruction.operands.end(),
                                             [&](ValueId operand) { return steps_of(operand) == 0; });
        if (same_stream) draws_.emplace_back(&instruction, *op);
    }
}

const Instruction* DrawingBody::definition(ValueId value) const {
    const auto found = defined_.find(value.index);
    return found == defined_.end() ? nullptr : found->second;
}

std::optional<int> DrawingBody::steps_of(ValueId value) const {
    if (value == along_) return 1;
    const Instruction* instruction = definition(value);
    if (instruction == nullptr) return 0;
    if (instruction->opcode == Opcode::kLoad) return std::nullopt;
    int steps = 0;
    for (const ValueId operand : instruction->operands) {
        const std::optional<int> more = steps_of(operand);
        if (!more) return std::nullopt;
        steps += *more;
    }
    const bool sums = instruction->opcode == Opcode::kApply && instruction->op->id == OpId::kAdd;
    if (steps == 0 || (steps == 1 && sums)) return steps;
    return std::nullopt;
}

PcgCode::Steps PcgCode::taken(int64_t steps) const {
    const scalar::Wide multiplier = plain_ ? scalar::Pcg64::kMultiplier : scalar::Pcg64Dxsm::kMultiplier;
    Steps result;
    for (int64_t k = 0; k < steps; ++k) {
        result.sum = result.sum * multiplier + 1;
        result.product *= multiplier;
    }
    return result;
}

llvm::Value* PcgCode::constant(scalar::Wide value) {
    const std::array<uint64_t, 2> parts = {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64)};
    return llvm::ConstantInt::get(builder_.getContext(), llvm::APInt(128, parts));
}

llvm::Value* PcgCode::joined(llvm::Value* low, llvm::Value* high) {
    llvm::Type* wide = builder_.getInt128Ty();
    return builder_.CreateOr(builder_.CreateZExt(low, wide),
                             builder_.CreateShl(builder_.CreateZExt(high, wide), 64));
}

llvm::Value* PcgCode::sum_of(llvm::Value* increment, int64_t steps) {
    return steps == 1 ? increment : builder_.CreateMul(increment, constant(taken(steps).sum));
}

llvm::Value* PcgCode::stepped(llvm::Value* state, llvm::Value* sum, int64_t steps) {
    return builder_.CreateAdd(builder_.CreateMul(state, constant(taken(steps).product)), sum);
}

// As in ops/scalar/random_bits.h.
llvm::Value* PcgCode::shown(llvm::Value* state) {
    llvm::Value* low = builder_.CreateTrunc(state, builder_.getInt64Ty());
    llvm::Value* high = builder_.CreateTrunc(builder_.CreateLShr(state, 64), builder_.getInt64Ty());
    if (plain_) {
        llvm::Value* mixed = builder_.CreateXor(high, low);
        return builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {builder_.getInt64Ty()},
                                        {mixed, mixed, builder_.CreateLShr(high, 58)});
    }
    high = builder_.CreateXor(high, builder_.CreateLShr(high, 32));
    high = builder_.CreateMul(high, builder_.getInt64(scalar::Pcg64Dxsm::kCheapMultiplier));
    high = builder_.CreateXor(high, builder_.CreateLShr(high, 48));
    return builder_.CreateMul(high, builder_.CreateOr(low, 1));
}

}  // namespace weft::codegen
