#include "codegen/ptx/packed_integers.h"

#include <algorithm>

#include "weft/errors.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

bool PackedRuns::can_hold(ScalarType type) {
    return type == ScalarType::kInt8 || type == ScalarType::kUInt8 || type == ScalarType::kInt16 ||
           type == ScalarType::kUInt16;
}

void PackedRuns::begin(int64_t lanes, bool has_bytes) {
    lanes_ = lanes;
    has_bytes_ = has_bytes;
    values_.clear();
}

bool PackedRuns::has_bytes(ValueId value) const { return DType(kernel_.type(value).scalar).itemsize() == 1; }

llvm::FixedVectorType* PackedRuns::pair_type() const {
    return llvm::FixedVectorType::get(builder_.getInt16Ty(), 2);
}
PackedRuns::Place PackedRuns::place_of(int64_t lane) const {
    const auto at = static_cast<size_t>(lane);
    if (!has_bytes_) return {at / 2, at % 2};
    return {at / 4 * 2 + at % 2, at / 2 % 2};
}

void PackedRuns::read(ValueId value, const std::vector<llvm::Value*>& words,
                      const std::vector<llvm::Value*>& next_words) {
    Pairs result;
    result.extended = !has_bytes(value);
    for (size_t w = 0; w < words.size(); ++w) {
        llvm::Value* word = builder_.CreateBitCast(words[w], pair_type());
        if (has_bytes(value)) {
            result.pairs.push_back(word);
            llvm::Value* next = next_words.empty() ? builder_.CreateLShr(words[w], 8) : next_words[w];
            result.pairs.push_back(builder_.CreateBitCast(next, pair_type()));
        } else if (!has_bytes_) {
            result.pairs.push_back(word);
        } else {
            llvm::Value* next = builder_.CreateBitCast(words[++w], pair_type());
            result.pairs.push_back(builder_.CreateShuffleVector(word, next, {0, 2}));
            result.pairs.push_back(builder_.CreateShuffleVector(word, next, {1, 3}));
        }
    }
    values_.insert_or_assign(value.index, std::move(result));
}

std::vector<llvm::Value*> PackedRuns::words(ValueId value) const {
    const std::vector<llvm::Value*>& pairs = values_.at(value.index).pairs;
    std::vector<llvm::Value*> words;
    const auto add = [&](llvm::Value* word) {
        words.push_back(builder_.CreateBitCast(word, builder_.getInt32Ty()));
    };
    for (size_t p = 0; p < pairs.size(); ++p) {
        if (has_bytes(value)) {
            // A selection by bits: vectors of bytes would be stored word by word.
            llvm::Value* low = builder_.CreateBitCast(pairs[p], builder_.getInt32Ty());
            llvm::Value* high =
                builder_.CreateShl(builder_.CreateBitCast(pairs[++p], builder_.getInt32Ty()), 8);
            add(builder_.CreateOr(builder_.CreateAnd(low, 0x00ff00ff), builder_.CreateAnd(high, 0xff00ff00)));
        } else if (!has_bytes_) {
            add(pairs[p]);
        } else {
            add(builder_.CreateShuffleVector(pairs[p], pairs[p + 1], {0, 2}));
            add(builder_.CreateShuffleVector(pairs[p], pairs[p + 1], {1, 3}));
            ++p;
        }
    }
    return words;
}

llvm::Value* PackedRuns::element(ValueId value, int64_t lane) const {
    const Place place = place_of(lane);
    llvm::Value* half = builder_.CreateExtractElement(values_.at(value.index).pairs[place.pair], place.half);
    return has_bytes(value) ? builder_.CreateTrunc(half, builder_.getInt8Ty()) : half;
}

bool PackedRuns::can_compute(const Instruction& instruction) const {
    if (instruction.results.size() != 1 || !can_hold(kernel_.type(instruction.results[0]).scalar))
        return false;
    const auto is_held = [&](ValueId operand) { return holds(operand); };
    if (std::none_of(instruction.operands.begin(), instruction.operands.end(), is_held)) return false;
    if (instruction.opcode == Opcode::kCast) return true;
    return instruction.opcode == Opcode::kApply && instruction.op->facts.packs16 != PackedHalves::kNone;
}

// (x & 255 ^ 128) - 128 has the sign of the lower half in all bits.
llvm::Value* PackedRuns::extended(llvm::Value* pair, bool is_signed) const {
    const auto of_each = [&](uint16_t bits) {
        return builder_.getInt32(static_cast<uint32_t>(bits) << 16 | bits);
    };
    llvm::Value* low = builder_.CreateAnd(builder_.CreateBitCast(pair, builder_.getInt32Ty()), of_each(0xff));
    if (!is_signed) return builder_.CreateBitCast(low, pair_type());
    llvm::Value* flipped = builder_.CreateBitCast(builder_.CreateXor(low, of_each(0x80)), pair_type());
    return builder_.CreateSub(
        flipped, llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(2), builder_.getInt16(0x80)));
}

PackedRuns::Pairs PackedRuns::extended(const Pairs& value, ScalarType type) const {
    if (value.extended) return value;
    Pairs result{{}, true};
    for (llvm::Value* pair : value.pairs)
        result.pairs.push_back(extended(pair, DType(type).is_signed_integer()));
    return result;
}

llvm::Value* PackedRuns::combine(OpId op, bool is_signed, llvm::Value* x, llvm::Value* y) const {
    switch (op) {
        case OpId::kAdd: return builder_.CreateAdd(x, y);
        case OpId::kSubtract: return builder_.CreateSub(x, y);
        case OpId::kNegative: return builder_.CreateNeg(x);
        case OpId::kPositive: return x;
        case OpId::kBitwiseAnd: return builder_.CreateAnd(x, y);
        case OpId::kBitwiseOr: return builder_.CreateOr(x, y);
        case OpId::kBitwiseXor: return builder_.CreateXor(x, y);
        case OpId::kInvert: return builder_.CreateNot(x);
        case OpId::kMaximum:
            return builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                                  x, y);
        case OpId::kMinimum:
            return builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                                                  x, y);
        default: break;
    }
    throw InternalError("pairs of small integers have no such operation");
}

void PackedRuns::compute(const Instruction& instruction, const std::vector<llvm::Value*>& scalars) {
    const ValueId result = instruction.results[0];
    const ScalarType type = kernel_.type(result).scalar;
    if (instruction.opcode == Opcode::kCast) {
        const ValueId from = instruction.operands[0];
        Pairs pairs = values_.at(from.index);
        // What becomes wider has to be extended; all else keeps its bits.
        if (has_bytes(from) && !has_bytes(result)) pairs = extended(pairs, kernel_.type(from).scalar);
        pairs.extended = !has_bytes(result);
        values_.insert_or_assign(result.index, std::move(pairs));
        return;
    }
    const OpId op = instruction.op->id;
    const bool of_values = instruction.op->facts.packs16 == PackedHalves::kValues;
    std::vector<Pairs> operands;
    for (size_t k = 0; k < instruction.operands.size(); ++k) {
        const ValueId operand = instruction.operands[k];
        const ScalarType operand_type = kernel_.type(operand).scalar;
        if (scalars[k] == nullptr) {
            const Pairs& held = values_.at(operand.index);
            operands.push_back(of_values ? extended(held, operand_type) : held);
            continue;
        }
        llvm::Value* wide = DType(operand_type).is_signed_integer()
                                ? builder_.CreateSExt(scalars[k], builder_.getInt16Ty())
                                : builder_.CreateZExt(scalars[k], builder_.getInt16Ty());
        operands.push_back(
            {std::vector<llvm::Value*>(static_cast<size_t>(lanes_ / 2), builder_.CreateVectorSplat(2, wide)),
             true});
    }
    Pairs computed{{}, !has_bytes(result) || of_values};
    for (size_t p = 0; p < static_cast<size_t>(lanes_ / 2); ++p) {
        llvm::Value* second = operands.size() > 1 ? operands[1].pairs[p] : nullptr;
        computed.pairs.push_back(combine(op, DType(type).is_signed_integer(), operands[0].pairs[p], second));
    }
    values_.insert_or_assign(result.index, std::move(computed));
}

}  // namespace weft::codegen
