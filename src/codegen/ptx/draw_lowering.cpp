#include "codegen/ptx/draw_lowering.h"

#include <algorithm>

#include "ops/op.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Region;
using ir::ValueId;

void PtxDrawLowering::find_draws(const Region& region, ValueId along) { body_ = DrawingBody(region, along); }

bool PtxDrawLowering::draws_by_steps() const {
    return std::any_of(body_.draws().begin(), body_.draws().end(),
                       [](const auto& draw) { return draw.second.stream != Stream::kPhilox; });
}

// --- PCG ----------------------------------------------------------------------------------------------

void PtxDrawLowering::begin_steps() {
    steps_.clear();
    for (const auto& [instruction, op] : body_.draws()) {
        if (op.stream != Stream::kPhilox) steps_[instruction].op = op;
    }
}

void PtxDrawLowering::begin_steps_at(llvm::Value* begin) {
    begin_steps();
    scalars_[body_.along().index].parts[0] = begin;
    for (auto& [instruction, steps] : steps_) {
        for (const ValueId operand : instruction->operands) lower_before_loop(operand);
        find_state(*instruction, steps);
    }
}

void PtxDrawLowering::begin_steps_again() {
    for (auto& [instruction, steps] : steps_) steps.state = steps.first;
}

void PtxDrawLowering::lower_before_loop(ValueId value) {
    const Instruction* instruction = body_.definition(value);
    if (instruction == nullptr) return;
    for (const ValueId operand : instruction->operands) lower_before_loop(operand);
    PtxKernelLowering::lower(*instruction);
}

void PtxDrawLowering::carry_steps(llvm::BasicBlock* before) {
    for (auto& [instruction, steps] : steps_) {
        steps.carried = builder_.CreatePHI(steps.state->getType(), 2, "state");
        steps.carried->addIncoming(steps.state, before);
        steps.state = steps.carried;
    }
}

void PtxDrawLowering::carry_on_steps() {
    for (auto& [instruction, steps] : steps_)
        steps.carried->addIncoming(steps.state, builder_.GetInsertBlock());
}

// The state that shows the word of the place whose scalars these are.
void PtxDrawLowering::find_state(const Instruction& draw, Steps& steps) {
    PcgCode code(builder_, steps.op.stream);
    std::vector<Scalar> operands = values_of(draw.operands);
    llvm::Value*& position = operands[0].parts[0];
    if (steps.op.halves) position = builder_.CreateLShr(position, 1);
    const std::vector<Scalar> state = call(op_info(code.state_op()).loops[0], operands, 2);
    steps.state = steps.first = code.joined(state[0].parts[0], state[1].parts[0]);
    const int64_t words = steps.op.halves ? kDrawnApart / 2 : kDrawnApart;
    steps.sum = code.sum_of(code.joined(operands[3].parts[0], operands[4].parts[0]), words);
}

void PtxDrawLowering::lower(const Instruction& instruction) {
    const auto found = steps_.find(&instruction);
    if (found == steps_.end()) {
        PtxKernelLowering::lower(instruction);
        return;
    }
    Steps& steps = found->second;
    if (steps.state == nullptr) find_state(instruction, steps);
    PcgCode code(builder_, steps.op.stream);
    llvm::Value* word = code.shown(steps.state);
    if (steps.op.halves) {
        // The distance is even: all places take the same half.
        llvm::Value* upper = builder_.CreateTrunc(index(instruction.operands[0]), builder_.getInt1Ty());
        word = builder_.CreateSelect(
            upper, builder_.CreateTrunc(builder_.CreateLShr(word, 32), builder_.getInt32Ty()),
            builder_.CreateTrunc(word, builder_.getInt32Ty()));
    }
    scalars_[instruction.results[0].index].parts[0] = word;
    steps.state = code.stepped(steps.state, steps.sum, steps.op.halves ? kDrawnApart / 2 : kDrawnApart);
}

// --- Philox -------------------------------------------------------------------------------------------

bool PtxDrawLowering::draws_blocks(const Instruction& instruction) const {
    return std::any_of(body_.draws().begin(), body_.draws().end(), [&](const auto& draw) {
        return draw.first == &instruction && draw.second.stream == Stream::kPhilox;
    });
}

// The words from `first` to `last` on, and more: those of so many blocks, and of one more if that has the
// last word.
std::vector<llvm::Value*> PtxDrawLowering::words_of_blocks(const std::vector<Scalar>& operands,
                                                           llvm::Value* first, llvm::Value* last,
                                                           size_t whole_blocks) {
    llvm::Value* first_block = builder_.CreateLShr(first, 2);
    const LoopInfo& loop = op_info(OpId::kPhiloxWord).loops[0];
    const auto block_words = [&](llvm::Value* block) {
        std::vector<llvm::Value*> words;
        std::vector<Scalar> at = operands;
        // All but the last step is common to the four.
        for (uint64_t word = 0; word < kPhiloxBlock; ++word) {
            at[0].parts[0] = builder_.CreateOr(builder_.CreateShl(block, 2), word);
            words.push_back(call(loop, at, 1)[0].parts[0]);
        }
        return words;
    };
    std::vector<llvm::Value*> words;
    for (size_t k = 0; k < whole_blocks; ++k) {
        for (llvm::Value* word : block_words(builder_.CreateAdd(first_block, builder_.getInt64(k))))
            words.push_back(word);
    }
    llvm::Value* next = builder_.CreateAdd(first_block, builder_.getInt64(whole_blocks));
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* drawing = new_block("block");
    llvm::BasicBlock* after = new_block("blocks");
    builder_.CreateCondBr(builder_.CreateICmpEQ(builder_.CreateLShr(last, 2), next), drawing, after);
    builder_.SetInsertPoint(drawing);
    const std::vector<llvm::Value*> more = block_words(next);
    llvm::BasicBlock* drawn = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    for (llvm::Value* word : more) {
        llvm::PHINode* phi = builder_.CreatePHI(word->getType(), 2);
        phi->addIncoming(builder_.getInt64(0), before);
        phi->addIncoming(word, drawn);
        words.push_back(phi);
    }
    return words;
}

void PtxDrawLowering::lower_blocks(const Instruction& instruction, std::span<std::vector<Scalar>> lanes) {
    const bool halves = draw_op(instruction)->halves;
    scalars_.swap(lanes[0]);
    const std::vector<Scalar> operands = values_of(instruction.operands);
    scalars_.swap(lanes[0]);
    llvm::Value* position = operands[0].parts[0];
    llvm::Value* last = builder_.CreateAdd(position, builder_.getInt64(lanes.size() - 1));
    llvm::Value* first = position;
    size_t count = lanes.size();
    if (halves) {
        first = builder_.CreateLShr(first, 1);
        last = builder_.CreateLShr(last, 1);
        count /= 2;
    }
    const auto block = static_cast<size_t>(kPhiloxBlock);
    std::vector<llvm::Value*> values =
        words_of_blocks(operands, first, last, std::max<size_t>(1, (count + block - 1) / block));
    // Moved to the first that is wanted, by powers of two.
    const auto move = [&](llvm::Value* bit, size_t distance) {
        llvm::Value* moves = builder_.CreateTrunc(bit, builder_.getInt1Ty());
        for (size_t k = 0; k + distance < values.size(); ++k)
            values[k] = builder_.CreateSelect(moves, values[k + distance], values[k]);
    };
    move(builder_.CreateLShr(first, 1), 2);
    move(first, 1);
    if (halves) {
        std::vector<llvm::Value*> parts;
        for (llvm::Value* word : values) {
            parts.push_back(builder_.CreateTrunc(word, builder_.getInt32Ty()));
            parts.push_back(builder_.CreateTrunc(builder_.CreateLShr(word, 32), builder_.getInt32Ty()));
        }
        values = std::move(parts);
        move(position, 1);
    }
    for (size_t k = 0; k < lanes.size(); ++k) lanes[k][instruction.results[0].index].parts[0] = values[k];
}

}  // namespace weft::codegen
