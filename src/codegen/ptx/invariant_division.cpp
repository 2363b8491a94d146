#include "codegen/ptx/invariant_division.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <map>
#include <utility>
#include <vector>

namespace weft::codegen {
namespace {

constexpr size_t kFewest = 4;  // divisions by one divisor in a loop, so that its reciprocal costs little

// Divisions by one divisor in one block, whose dividends are known where the first of them is.
struct Group {
    llvm::Value* divisor;
    llvm::BasicBlock* before_loop;
    std::vector<llvm::Instruction*> divisions;
};

class Finder {
public:
    explicit Finder(llvm::Function& function) : dominators_(function), loops_(dominators_) {
        for (llvm::BasicBlock& block : function) find_in(block);
    }
    std::vector<Group> found() const {
        std::vector<Group> groups;
        for (const Group& group : groups_) {
            if (counts_.at({group.divisor, group.before_loop}) >= kFewest) groups.push_back(group);
        }
        return groups;
    }

private:
    void find_in(llvm::BasicBlock& block) {
        const llvm::Loop* inner = loops_.getLoopFor(&block);
        if (inner == nullptr) return;
        const size_t others = groups_.size();
        for (llvm::Instruction& instruction : block) {
            if (instruction.getOpcode() != llvm::Instruction::FDiv || !instruction.getType()->isFloatTy())
                continue;
            llvm::Value* divisor = instruction.getOperand(1);
            if (llvm::isa<llvm::Constant>(divisor) || !inner->isLoopInvariant(divisor)) continue;
            const llvm::Loop* outermost = inner;
            while (outermost->getParentLoop() != nullptr &&
                   outermost->getParentLoop()->isLoopInvariant(divisor))
                outermost = outermost->getParentLoop();
            llvm::BasicBlock* before = outermost->getLoopPreheader();
            if (before == nullptr) continue;
            ++counts_[{divisor, before}];
            const auto* dividend = llvm::dyn_cast<llvm::Instruction>(instruction.getOperand(0));
            const bool joins = groups_.size() > others && groups_.back().divisor == divisor &&
                               (dividend == nullptr || dividend->getParent() != &block ||
                                dividend->comesBefore(groups_.back().divisions[0]));
            if (!joins) groups_.push_back({divisor, before, {}});
            groups_.back().divisions.push_back(&instruction);
        }
    }

    llvm::DominatorTree dominators_;
    llvm::LoopInfo loops_;
    std::vector<Group> groups_;
    std::map<std::pair<llvm::Value*, llvm::BasicBlock*>, size_t> counts_;
};

class Replacer {
public:
    void replace(const Group& group) {
        llvm::Instruction* first = group.divisions[0];
        llvm::IRBuilder<> builder(first);
        llvm::Value* factor = reciprocal(group);
        llvm::Value* any_rare = nullptr;
        std::vector<llvm::Value*> products, quotients;
        for (llvm::Instruction* division : group.divisions) {
            llvm::Value* wide = builder.CreateFPExt(division->getOperand(0), builder.getDoubleTy());
            llvm::Value* product =
                builder.CreateFPTrunc(builder.CreateFMul(wide, factor), builder.getFloatTy());
            products.push_back(product);
            llvm::Value* magnitude = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, product);
            llvm::Value* rare =
                builder.CreateFCmpOLT(magnitude, llvm::ConstantFP::get(builder.getFloatTy(), 0x1p-126));
            any_rare = any_rare == nullptr ? rare : builder.CreateOr(any_rare, rare);
        }
        llvm::BasicBlock* before = builder.GetInsertBlock();
        llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(
            any_rare, first->getIterator(), false,
            llvm::MDBuilder(first->getContext()).createUnlikelyBranchWeights());
        builder.SetInsertPoint(end);
        for (llvm::Instruction* division : group.divisions)
            quotients.push_back(builder.CreateFDiv(division->getOperand(0), group.divisor));
        builder.SetInsertPoint(first);
        for (size_t k = 0; k < products.size(); ++k) {
            llvm::PHINode* phi = builder.CreatePHI(builder.getFloatTy(), 2);
            phi->addIncoming(products[k], before);
            phi->addIncoming(quotients[k], end->getParent());
            products[k] = phi;
        }
        for (size_t k = 0; k < products.size(); ++k) {
            group.divisions[k]->replaceAllUsesWith(products[k]);
            group.divisions[k]->eraseFromParent();
        }
    }

private:
    llvm::Value* reciprocal(const Group& group) {
        llvm::Value*& known = reciprocals_[{group.divisor, group.before_loop}];
        if (known == nullptr) {
            llvm::IRBuilder<> builder(group.before_loop->getTerminator());
            llvm::Value* wide = builder.CreateFPExt(group.divisor, builder.getDoubleTy());
            known = builder.CreateFDiv(llvm::ConstantFP::get(builder.getDoubleTy(), 1.0), wide);
        }
        return known;
    }

    std::map<std::pair<llvm::Value*, llvm::BasicBlock*>, llvm::Value*> reciprocals_;
};

}  // namespace

void multiply_by_reciprocals(llvm::Module& module) {
    for (llvm::Function& function : module) {
        if (function.isDeclaration()) continue;
        const std::vector<Group> groups = Finder(function).found();
        Replacer replacer;
        for (const Group& group : groups) replacer.replace(group);
    }
}

}  // namespace weft::codegen
