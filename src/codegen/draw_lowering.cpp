#include "codegen/draw_lowering.h"

#include <algorithm>
#include <span>

#include "ops/op.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Region;
using ir::ValueId;

namespace {

constexpr int64_t kChains = 4;  // of steps that wait for each other, side by side

}  // namespace

void DrawLowering::find_draws(const Region& region, ValueId along) {
    along_ = along;
    body_ = DrawingBody(region, along);
    draws_.clear();
    for (const auto& [instruction, op] : body_.draws()) {
        const auto capacity = static_cast<uint64_t>(kDrawnTogether + 2 * kPhiloxBlock);
        Draw draw{op};
        draw.words =
            allocate_local(llvm::ArrayType::get(builder_.getInt64Ty(), capacity), llvm::Align(64), "drawn");
        draws_.emplace_back(instruction, draw);
    }
}

llvm::Value* DrawLowering::before_loop(ValueId value) {
    if (const Instruction* instruction = body_.definition(value)) {
        for (const ValueId operand : instruction->operands) before_loop(operand);
        KernelLowering::lower(*instruction);
    }
    return scalar(value).parts[0];
}

llvm::Value* DrawLowering::at_begin(ValueId value, llvm::Value* begin) {
    if (value == along_) return begin;
    if (body_.steps_of(value) == 0) return before_loop(value);
    const Instruction& sum = *body_.definition(value);
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
    PcgCode code(builder_, stream);
    std::vector<Scalar> operands = values_of(std::span(draw.operands).subspan(1));
    operands.insert(operands.begin(), Scalar{});  // the position
    llvm::Value* increment = code.joined(operands[3].parts[0], operands[4].parts[0]);
    operands[0].parts[0] = first;
    Scalar high;
    const Scalar low = call_op(code.state_op(), operands, 2, &high);
    std::vector<llvm::Value*> states = {code.joined(low.parts[0], high.parts[0])};
    while (states.size() < static_cast<size_t>(kChains))
        states.push_back(code.stepped(states.back(), increment, 1));
    llvm::Value* sum = code.sum_of(increment, kChains);
    count_words(count, kChains, states, [&](llvm::Value* k, std::vector<llvm::Value*>& carried) {
        for (size_t chain = 0; chain < carried.size(); ++chain) {
            llvm::Value* place = builder_.CreateAdd(k, builder_.getInt64(chain));
            builder_.CreateAlignedStore(code.shown(carried[chain]),
                                        builder_.CreateInBoundsGEP(builder_.getInt64Ty(), words, {place}),
                                        llvm::Align(8));
            carried[chain] = code.stepped(carried[chain], sum, kChains);
        }
    });
}

}  // namespace weft::codegen
