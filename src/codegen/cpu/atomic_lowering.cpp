// Atomic operations, for all targets: the instruction that there is, else an exchange loop. They are relaxed
// themselves; fences around them give them their order.
#include <optional>

#include "codegen/llvm/kernel_lowering.h"

namespace weft::codegen {

using ir::Instruction;
using ir::ValueId;

namespace {

// What machines do in one instruction, or LLVM with what they have.
std::optional<llvm::AtomicRMWInst::BinOp> single_instruction(const OpInfo& op, ScalarType type) {
    using BinOp = llvm::AtomicRMWInst::BinOp;
    const DType dtype(type);
    const AtomicInstruction instruction = op.facts.atomic;
    if (instruction == AtomicInstruction::kAdd &&
        (type == ScalarType::kFloat32 || type == ScalarType::kFloat64))
        return BinOp::FAdd;
    if (!dtype.is_integer() || dtype.itemsize() < 4) return std::nullopt;
    switch (instruction) {
        case AtomicInstruction::kAdd: return BinOp::Add;
        case AtomicInstruction::kAnd: return BinOp::And;
        case AtomicInstruction::kOr: return BinOp::Or;
        case AtomicInstruction::kXor: return BinOp::Xor;
        case AtomicInstruction::kMax: return dtype.is_signed_integer() ? BinOp::Max : BinOp::UMax;
        case AtomicInstruction::kMin: return dtype.is_signed_integer() ? BinOp::Min : BinOp::UMin;
        case AtomicInstruction::kNone: break;
    }
    return std::nullopt;
}

// Whether a relaxed operation only reads. A load disturbs nobody: of many threads that wait for a word, say.
bool leaves_as_is(const Instruction& instruction, const llvm::Value* operand) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(operand);
    return instruction.op->id == OpId::kBitwiseOr && instruction.order == ir::MemoryOrder::kRelaxed &&
           constant != nullptr && constant->isZero();
}

}  // namespace

void KernelLowering::lower_atomic(const Instruction& instruction) {
    const BufferValue& to = buffer(instruction.operands[0]);
    const ScalarType type = to.type.element;
    if (part_count(type) != 1) refuse("an atomic operation on complex numbers");
    llvm::Value* pointer = address(to, std::span(instruction.operands).subspan(2));
    llvm::Value* value = scalar(instruction.operands[1]).parts[0];
    fence(instruction, true);
    llvm::Value* old = nullptr;
    if (leaves_as_is(instruction, value)) {
        llvm::LoadInst* load = builder_.CreateAlignedLoad(part_type(type), pointer, atomic_alignment(type));
        load->setAtomic(llvm::AtomicOrdering::Monotonic);
        old = load;
    } else if (const auto single = single_instruction(*instruction.op, type)) {
        old = builder_.CreateAtomicRMW(*single, pointer, value, atomic_alignment(type),
                                       llvm::AtomicOrdering::Monotonic);
    } else {
        old = exchange_loop(pointer, value, instruction, type);
    }
    fence(instruction, false);
    scalars_[instruction.results[0].index].parts[0] = old;
}

// Reads, computes, and writes if nobody wrote in between.
llvm::Value* KernelLowering::exchange_loop(llvm::Value* pointer, llvm::Value* value,
                                           const Instruction& instruction, ScalarType type) {
    llvm::Type* bits = builder_.getIntNTy(static_cast<unsigned>(8 * part_size(type)));
    llvm::LoadInst* first = builder_.CreateAlignedLoad(bits, pointer, atomic_alignment(type));
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* attempt = new_block("attempt");
    llvm::BasicBlock* after = new_block("attempt.end");
    builder_.CreateBr(attempt);
    builder_.SetInsertPoint(attempt);
    llvm::PHINode* seen = builder_.CreatePHI(bits, 2);
    seen->addIncoming(first, before);
    Scalar operands[2];
    operands[0].parts[0] = builder_.CreateBitCast(seen, part_type(type));
    operands[1].parts[0] = value;
    const LoopInfo& loop = instruction.op->loops[static_cast<size_t>(instruction.loop)];
    const Scalar next = call(loop, operands, 1)[0];
    llvm::Value* exchanged = builder_.CreateAtomicCmpXchg(
        pointer, seen, builder_.CreateBitCast(next.parts[0], bits), atomic_alignment(type),
        llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
    seen->addIncoming(builder_.CreateExtractValue(exchanged, 0), builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateExtractValue(exchanged, 1), after, attempt);
    builder_.SetInsertPoint(after);
    return builder_.CreateBitCast(seen, part_type(type));
}

void KernelLowering::lower_compare_exchange(const Instruction& instruction) {
    const BufferValue& to = buffer(instruction.operands[0]);
    const ScalarType type = to.type.element;
    if (part_count(type) != 1) refuse("an atomic operation on complex numbers");
    llvm::Value* pointer = address(to, std::span(instruction.operands).subspan(3));
    llvm::Type* bits = builder_.getIntNTy(static_cast<unsigned>(8 * part_size(type)));
    const auto bits_of = [&](ValueId value) { return builder_.CreateBitCast(scalar(value).parts[0], bits); };
    fence(instruction, true);
    llvm::Value* exchanged = builder_.CreateAtomicCmpXchg(
        pointer, bits_of(instruction.operands[1]), bits_of(instruction.operands[2]), atomic_alignment(type),
        llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
    fence(instruction, false);
    scalars_[instruction.results[0].index].parts[0] =
        builder_.CreateBitCast(builder_.CreateExtractValue(exchanged, 0), part_type(type));
}

void KernelLowering::fence(const Instruction& instruction, bool before) {
    const ir::MemoryOrder order = instruction.order;
    if (order == ir::MemoryOrder::kRelaxed) return;
    if (order == (before ? ir::MemoryOrder::kAcquire : ir::MemoryOrder::kRelease)) return;
    builder_.CreateFence(order == ir::MemoryOrder::kSequential ? llvm::AtomicOrdering::SequentiallyConsistent
                                                               : llvm::AtomicOrdering::AcquireRelease);
}

}  // namespace weft::codegen
