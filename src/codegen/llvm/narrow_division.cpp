#include "codegen/llvm/narrow_division.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <cstdint>
#include <vector>

namespace weft::codegen {
namespace {

using namespace llvm::PatternMatch;

bool is_narrow(const llvm::Type* type) { return type->isIntegerTy(8) || type->isIntegerTy(16); }

// The signed dividend and the positive divisor of what the op table's floor_divide has become:
// x / c, less the sign bit of the rest.
bool is_floor(llvm::Instruction& instruction, llvm::Value*& dividend, const llvm::APInt*& divisor) {
    llvm::Value* rest = nullptr;
    const auto quotient = m_SDiv(m_Value(dividend), m_APInt(divisor));
    const auto sign = m_SpecificInt(instruction.getType()->getIntegerBitWidth() - 1);
    if (!match(&instruction, m_Sub(quotient, m_LShr(m_Value(rest), sign))) &&
        !match(&instruction, m_c_Add(quotient, m_AShr(m_Value(rest), sign))))
        return false;
    return divisor->isStrictlyPositive() && !divisor->isOne() &&
           match(rest, m_SRem(m_Specific(dividend), m_SpecificInt(*divisor)));
}

// floor(n / c) for every 0 <= n <= most, less `bias`, where n is what `n` gives.
class Multiplication {
public:
    Multiplication(llvm::IRBuilder<>& builder, uint64_t divisor, uint64_t most)
        : builder_(builder), divisor_(divisor), most_(most) {}

    // n = x + offset with x of 32 bits, bias = offset / divisor.
    llvm::Value* quotient(llvm::Value* x, uint64_t offset) {
        // floor(n · m / 2^s) with m = ceil(2^s / c), exact as long as n · (m · c - 2^s) < 2^s.
        for (unsigned shift = 24; shift >= 8; --shift) {
            const uint64_t factor = factor_of(shift);
            if (!is_exact(shift) || most_ * factor >= uint64_t{1} << 31) continue;
            llvm::Value* product = builder_.CreateMul(x, constant(factor));
            if (offset == 0) return builder_.CreateLShr(product, shift);
            const uint64_t bias = offset / divisor_;
            return builder_.CreateAShr(
                builder_.CreateAdd(product, constant(offset * factor - (bias << shift))), shift);
        }
        constexpr unsigned kShift = 32;
        if (!is_exact(kShift)) return nullptr;
        llvm::Value* n = builder_.CreateZExt(builder_.CreateAdd(x, constant(offset)), builder_.getInt64Ty());
        llvm::Value* product = builder_.CreateMul(n, builder_.getInt64(factor_of(kShift)));
        llvm::Value* floor =
            builder_.CreateTrunc(builder_.CreateLShr(product, kShift), builder_.getInt32Ty());
        return builder_.CreateSub(floor, constant(offset / divisor_));
    }

private:
    uint64_t factor_of(unsigned shift) const { return ((uint64_t{1} << shift) + divisor_ - 1) / divisor_; }
    bool is_exact(unsigned shift) const {
        const uint64_t power = uint64_t{1} << shift;
        return most_ * (factor_of(shift) * divisor_ - power) < power;
    }
    llvm::Constant* constant(uint64_t value) { return builder_.getInt32(static_cast<uint32_t>(value)); }

    llvm::IRBuilder<>& builder_;
    uint64_t divisor_, most_;
};

llvm::Value* replacement(llvm::Instruction& instruction) {
    llvm::Value* dividend = nullptr;
    const llvm::APInt* divisor = nullptr;
    llvm::IRBuilder<> builder(&instruction);
    llvm::Type* type = instruction.getType();
    const uint64_t span = uint64_t{1} << type->getIntegerBitWidth();
    llvm::Value* quotient = nullptr;
    if (match(&instruction, m_UDiv(m_Value(dividend), m_APInt(divisor)))) {
        if (divisor->isZero() || divisor->isPowerOf2()) return nullptr;
        llvm::Value* wide = builder.CreateZExt(dividend, builder.getInt32Ty());
        quotient = Multiplication(builder, divisor->getZExtValue(), span - 1).quotient(wide, 0);
    } else if (is_floor(instruction, dividend, divisor)) {
        const uint64_t by = divisor->getZExtValue();
        const uint64_t offset = (span / 2 + by - 1) / by * by;
        llvm::Value* wide = builder.CreateSExt(dividend, builder.getInt32Ty());
        quotient = Multiplication(builder, by, span / 2 - 1 + offset).quotient(wide, offset);
    }
    return quotient == nullptr ? nullptr : builder.CreateTrunc(quotient, type);
}

}  // namespace

llvm::PreservedAnalyses NarrowDivisionPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
        if (is_narrow(instruction.getType())) all.push_back(&instruction);
    }
    bool changed = false;
    std::vector<llvm::WeakTrackingVH> replaced;
    for (llvm::Instruction* instruction : all) {
        llvm::Value* quotient = replacement(*instruction);
        if (quotient == nullptr) continue;
        instruction->replaceAllUsesWith(quotient);
        replaced.emplace_back(instruction);
        changed = true;
    }
    for (const llvm::WeakTrackingVH& dead : replaced) {
        llvm::Value* value = dead;
        if (value != nullptr) llvm::RecursivelyDeleteTriviallyDeadInstructions(value);
    }
    if (!changed) return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
}

}  // namespace weft::codegen
