#include "codegen/draw_lowering.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>
#include <span>

#include "ops/op.h"
#include "ops/scalar/random_bits.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

namespace {

constexpr int64_t kChains = 4;  // of steps that wait for each other, side by side
constexpr int64_t kPhiloxBlock = 4;

}  // namespace

std::optional<DrawLowering::DrawOp> DrawLowering::draw_op(const Instruction& instruction) {
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

void DrawLowering::find_draws(const Region& region, ValueId along) {
    along_ = along;
    defined_.clear();
    draws_.clear();
    for (const Instruction& instruction : region.body) {
        if (!instruction.regions.empty() || instruction.opcode == Opcode::kAllocate) return;
        for (const ValueId result : instruction.results) defined_[result.index] = &instruction;
    }
    for (const Instruction& instruction : region.body) {
        const std::optional<DrawOp> op = draw_op(instruction);
        if (!op || steps_of(instruction.operands[0]) != 1) continue;
        const bool same_stream = std::all_of(instruction.operands.begin() + 1, instruction.operands.end(),
                                             [&](ValueId operand) { return steps_of(operand) == 0; });
        if (!same_stream) continue;
        const auto capacity = static_cast<uint64_t>(kDrawnTogether + 2 * kPhiloxBlock);
        Draw draw{*op};
        draw.words =
            allocate_local(llvm::ArrayType::get(builder_.getInt64Ty(), capacity), llvm::Align(64), "drawn");
        draws_.emplace_back(&instruction, draw);
    }
}

std::optional<int> DrawLowering::steps_of(ValueId value) const {
    if (value == along_) return 1;
    const auto found = defined_.find(value.index);
    if (found == defined_.end()) return 0;
    const Instruction& instruction = *found->second;
    if (instruction.opcode == Opcode::kLoad) return std::nullopt;
    int steps = 0;
    for (const ValueId operand : instruction.operands) {
        const std::optional<int> more = steps_of(operand);
        if (!more) return std::nullopt;
        steps += *more;
    }
    const bool sums = instruction.opcode == Opcode::kApply && instruction.op->id == OpId::kAdd;
    if (steps == 0 || (steps == 1 && sums)) return steps;
    return std::nullopt;
}

llvm::Value* DrawLowering::before_loop(ValueId value) {
    if (const auto found = defined_.find(value.index); found != defined_.end()) {
        for (const ValueId operand : found->second->operands) before_loop(operand);
        KernelLowering::lower(*found->second);
    }
    return scalar(value).parts[0];
}

llvm::Value* DrawLowering::at_begin(ValueId value, llvm::Value* begin) {
    if (value == along_) return begin;
    if (steps_of(value) == 0) return before_loop(value);
    const Instruction& sum = *defined_.at(value.index);
    llvm::Value* left = at_begin(sum.operands[0], begin);
    return builder_.CreateAdd(left, at_begin(sum.operands[1], begin));
}

void DrawLowering::begin_drawn_piece(llvm::Value* begin, llvm::Value* end, llvm::MDNode* group) {
    begin_ = begin;
    group_ = group;
    for (auto& [instruction, draw] : draws_) {
        llvm::Value* position = at_begin(instruction->operands[0], begin);
        for (size_t k = 1; k < instruction->operands.size(); ++k) before_loop(instruction->operands[k]);
        llvm::Value* count = builder_.CreateNSWSub(end, begin);
        llvm::Value* inside = builder_.getInt64(0);  // the word, which half of it
        if (draw.op.halves) {
            inside = builder_.CreateAnd(position, 1);
            count = builder_.CreateLShr(
                builder_.CreateAdd(builder_.CreateAdd(count, inside), builder_.getInt64(1)), 1);
            position = builder_.CreateLShr(position, 1);
        }
        llvm::Value* before = fill(*instruction, draw.op.stream, draw.words, position, count);
        if (draw.op.halves) before = builder_.CreateAdd(builder_.CreateShl(before, 1), inside);
        draw.first = builder_.CreateInBoundsGEP(
            draw.op.halves ? builder_.getInt32Ty() : builder_.getInt64Ty(), draw.words, {before});
    }
}

void DrawLowering::lower(const Instruction& instruction) {
    const auto found = std::find_if(draws_.begin(), draws_.end(),
                                    [&](const auto& draw) { return draw.first == &instruction; });
    if (found == draws_.end()) {
        KernelLowering::lower(instruction);
        return;
    }
    llvm::Type* type = found->second.op.halves ? builder_.getInt32Ty() : builder_.getInt64Ty();
    llvm::Value* place = builder_.CreateNSWSub(index(along_), begin_);
    llvm::LoadInst* word =
        builder_.CreateAlignedLoad(type, builder_.CreateInBoundsGEP(type, found->second.first, {place}),
                                   llvm::Align(static_cast<uint64_t>(type->getIntegerBitWidth() / 8)));
    word->setMetadata(llvm::LLVMContext::MD_access_group, group_);
    scalars_[instruction.results[0].index].parts[0] = word;
}

template <class Body>
void DrawLowering::count_words(llvm::Value* count, int64_t step, std::vector<llvm::Value*> carried,
                               const Body& body) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* turn = new_block("draw");
    llvm::BasicBlock* after = new_block("drawn");
    builder_.CreateBr(turn);  // a piece has an element
    builder_.SetInsertPoint(turn);
    llvm::PHINode* k = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    k->addIncoming(builder_.getInt64(0), before);
    std::vector<llvm::PHINode*> phis;
    for (llvm::Value*& value : carried) {
        phis.push_back(builder_.CreatePHI(value->getType(), 2));
        phis.back()->addIncoming(value, before);
        value = phis.back();
    }
    body(k, carried);
    llvm::Value* next = builder_.CreateAdd(k, builder_.getInt64(static_cast<uint64_t>(step)), "", true, true);
    llvm::BasicBlock* latch = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), turn, after);
    k->addIncoming(next, latch);
    for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(carried[i], latch);
    builder_.SetInsertPoint(after);
}

DrawLowering::Scalar DrawLowering::call_op(OpId op, std::span<const Scalar> operands, size_t results,
                                           Scalar* second) {
    const std::vector<Scalar> values = call(op_info(op).loops[0], operands, results);
    if (second != nullptr) *second = values[1];
    return values[0];
}

llvm::Value* DrawLowering::fill(const Instruction& draw, Stream stream, llvm::Value* words,
                                llvm::Value* first, llvm::Value* count) {
    if (stream != Stream::kPhilox) {
        fill_by_steps(draw, stream, words, first, count);
        return builder_.getInt64(0);
    }
    // Whole blocks, from the one that the first word is in; their four words have all but the last step in
    // common.
    llvm::Value* inside = builder_.CreateAnd(first, kPhiloxBlock - 1);
    llvm::Value* start = builder_.CreateSub(first, inside);
    std::vector<Scalar> operands = values_of(std::span(draw.operands).subspan(1));
    operands.insert(operands.begin(), Scalar{});  // the position
    count_words(builder_.CreateAdd(count, inside), kPhiloxBlock, {}, [&](llvm::Value* k, auto&) {
        llvm::Value* block = builder_.CreateLShr(builder_.CreateAdd(start, k), 2);
        for (uint64_t word = 0; word < kPhiloxBlock; ++word) {
            operands[0].parts[0] = builder_.CreateOr(builder_.CreateShl(block, 2), word);
            llvm::Value* value = call_op(OpId::kPhiloxWord, operands, 1).parts[0];
            llvm::Value* place = builder_.CreateAdd(k, builder_.getInt64(word));
            builder_.CreateAlignedStore(
                value, builder_.CreateInBoundsGEP(builder_.getInt64Ty(), words, {place}), llvm::Align(8));
        }
    });
    return inside;
}

void DrawLowering::fill_by_steps(const Instruction& draw, Stream stream, llvm::Value* words,
                                 llvm::Value* first, llvm::Value* count) {
    using scalar::Wide;
    llvm::Type* wide = builder_.getInt128Ty();
    const auto joined = [&](llvm::Value* low, llvm::Value* high) {
        return builder_.CreateOr(builder_.CreateZExt(low, wide),
                                 builder_.CreateShl(builder_.CreateZExt(high, wide), 64));
    };
    const auto constant = [&](Wide value) -> llvm::Value* {
        const std::array<uint64_t, 2> parts = {static_cast<uint64_t>(value),
                                               static_cast<uint64_t>(value >> 64)};
        return llvm::ConstantInt::get(context_, llvm::APInt(128, parts));
    };
    const bool plain = stream == Stream::kPcg64;
    const Wide multiplier = plain ? scalar::Pcg64::kMultiplier : scalar::Pcg64Dxsm::kMultiplier;

    std::vector<Scalar> operands = values_of(std::span(draw.operands).subspan(1));
    operands.insert(operands.begin(), Scalar{});  // the position
    llvm::Value* increment = joined(operands[3].parts[0], operands[4].parts[0]);
    operands[0].parts[0] = first;
    Scalar high;
    const Scalar low = call_op(plain ? OpId::kPcg64State : OpId::kPcg64dxsmState, operands, 2, &high);
    std::vector<llvm::Value*> states = {joined(low.parts[0], high.parts[0])};
    Wide product = multiplier, sum = 1;
    for (int64_t chain = 1; chain < kChains; ++chain) {
        states.push_back(
            builder_.CreateAdd(builder_.CreateMul(states.back(), constant(multiplier)), increment));
        sum = sum * multiplier + 1;
        product *= multiplier;
    }
    llvm::Value* step = builder_.CreateMul(increment, constant(sum));
    count_words(count, kChains, states, [&](llvm::Value* k, std::vector<llvm::Value*>& carried) {
        for (size_t chain = 0; chain < carried.size(); ++chain) {
            llvm::Value* place = builder_.CreateAdd(k, builder_.getInt64(chain));
            builder_.CreateAlignedStore(show(stream, carried[chain]),
                                        builder_.CreateInBoundsGEP(builder_.getInt64Ty(), words, {place}),
                                        llvm::Align(8));
            carried[chain] = builder_.CreateAdd(builder_.CreateMul(carried[chain], constant(product)), step);
        }
    });
}

// As in ops/scalar/random_bits.h.
llvm::Value* DrawLowering::show(Stream stream, llvm::Value* state) {
    llvm::Value* low = builder_.CreateTrunc(state, builder_.getInt64Ty());
    llvm::Value* high = builder_.CreateTrunc(builder_.CreateLShr(state, 64), builder_.getInt64Ty());
    if (stream == Stream::kPcg64) {
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
