#include "codegen/llvm/float_to_integer.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace weft::codegen {

namespace {

using namespace llvm::PatternMatch;

constexpr double kBound = 9223372036854775808.0;

bool is_number(const llvm::Value* value, double number) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value);
    return constant != nullptr && constant->isExactlyValue(number);
}

// The float, where the branch is taken if that fits into int64.
llvm::Value* checked_float(const llvm::BranchInst& branch) {
    llvm::FCmpInst::Predicate from{}, to{};
    llvm::Value *value = nullptr, *same = nullptr, *least = nullptr, *most = nullptr;
    if (!branch.isConditional() ||
        !match(branch.getCondition(), m_LogicalAnd(m_FCmp(from, m_Value(value), m_Value(least)),
                                                   m_FCmp(to, m_Value(same), m_Value(most)))))
        return nullptr;
    if (value != same || from != llvm::FCmpInst::FCMP_OGE || to != llvm::FCmpInst::FCMP_OLT ||
        !is_number(least, -kBound) || !is_number(most, kBound) || !value->getType()->isDoubleTy())
        return nullptr;
    return value;
}

// The conversions of what a check lets through, of which some are there.
std::vector<llvm::FPToSIInst*> conversions_of(llvm::Value& value) {
    std::vector<llvm::FPToSIInst*> conversions;
    for (llvm::User* user : value.users()) {
        auto* const conversion = llvm::dyn_cast<llvm::FPToSIInst>(user);
        if (conversion != nullptr && conversion->getType()->isIntegerTy(64))
            conversions.push_back(conversion);
    }
    return conversions;
}

llvm::Value* convert(llvm::IRBuilder<>& builder, llvm::Value* value) {
    llvm::Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getDoubleTy(), 2));
    vector = builder.CreateInsertElement(vector, value, uint64_t{0});
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_sse2_cvttsd2si64, {}, {vector});
}

void look_at_result(llvm::BranchInst& branch, llvm::Value& value,
                    const std::vector<llvm::FPToSIInst*>& conversions) {
    llvm::IRBuilder<> builder(&branch);
    llvm::Value* const result = convert(builder, &value);
    llvm::Value* const fits = builder.CreateICmpNE(result, builder.getInt64(uint64_t{1} << 63), "fits");
    llvm::BasicBlock* const here = branch.getParent();
    llvm::BasicBlock* const holds = branch.getSuccessor(0);
    llvm::BasicBlock* const fails = branch.getSuccessor(1);
    auto* const rare = llvm::BasicBlock::Create(branch.getContext(), "least", here->getParent(), fails);
    builder.CreateCondBr(fits, holds, rare, branch.getMetadata(llvm::LLVMContext::MD_prof));
    builder.SetInsertPoint(rare);
    builder.CreateCondBr(builder.CreateFCmpOEQ(&value, llvm::ConstantFP::get(builder.getDoubleTy(), -kBound)),
                         holds, fails);
    for (llvm::PHINode& phi : holds->phis()) phi.addIncoming(phi.getIncomingValueForBlock(here), rare);
    fails->replacePhiUsesWith(here, rare);
    branch.eraseFromParent();
    // Where the check came first, that is the result; elsewhere nothing is said of floats out of range.
    for (llvm::FPToSIInst* conversion : conversions) {
        builder.SetInsertPoint(conversion);
        conversion->replaceAllUsesWith(convert(builder, &value));
        conversion->eraseFromParent();
    }
}

}  // namespace

llvm::PreservedAnalyses FloatToIntegerPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    if (llvm::Triple(function.getParent()->getTargetTriple()).getArch() != llvm::Triple::x86_64)
        return llvm::PreservedAnalyses::all();
    std::vector<llvm::BranchInst*> branches;
    for (llvm::BasicBlock& block : function) {
        auto* const branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
        if (branch != nullptr && checked_float(*branch) != nullptr) branches.push_back(branch);
    }
    bool changed = false;
    for (llvm::BranchInst* branch : branches) {
        llvm::Value* const value = checked_float(*branch);
        const std::vector<llvm::FPToSIInst*> conversions = conversions_of(*value);
        if (conversions.empty() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
        look_at_result(*branch, *value, conversions);
        changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace weft::codegen
