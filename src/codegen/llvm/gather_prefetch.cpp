#include "codegen/llvm/gather_prefetch.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::codegen {

namespace {

constexpr int64_t kElementsAhead = 64;
constexpr int64_t kCacheLine = 64;
constexpr size_t kMostInstructions = 64;  // computed once more, for one loop
constexpr uint32_t kIntoSecondCache = 2;  // llvm.prefetch: "locality"

// Where an instruction reads at a computed position: one pointer or a vector of them.
llvm::Value* position_read(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->getPointerOperand();
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::masked_gather
               ? call->getArgOperand(0)
               : nullptr;
}

class PrefetchedLoop {
public:
    PrefetchedLoop(llvm::Loop& loop, llvm::LoopInfo& loops, llvm::DominatorTree& dominators,
                   llvm::ScalarEvolution& evolution, const llvm::DataLayout& layout)
        : loop_(loop), loops_(loops), dominators_(dominators), evolution_(evolution), layout_(layout) {}

    // Says whether it changed anything.
    bool run() {
        llvm::BasicBlock* const block = loop_.getHeader();
        if (loop_.getNumBlocks() != 1 || !find_counter()) return false;
        std::set<std::pair<const llvm::Value*, int64_t>> lines;
        std::vector<llvm::Instruction*> reads;
        for (llvm::Instruction& instruction : *block) {
            llvm::Value* const pointer = position_read(instruction);
            if (pointer == nullptr || !is_gather(pointer)) continue;
            llvm::APInt offset(64, 0);
            const llvm::Value* base =
                pointer->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
            if (lines.emplace(base, offset.getSExtValue() / kCacheLine).second) reads.push_back(&instruction);
        }
        if (reads.empty() || repeated_.size() > kMostInstructions) return false;
        repeat();
        for (llvm::Instruction* read : reads) prefetch(read);
        for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
            if (auto* gather = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) read_one_by_one(gather);
        }
        llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused_);
        return true;
    }

private:
    // The loop's only integer that counts upwards, and where it is in the last iteration.
    bool find_counter() {
        const llvm::SCEV* const iterations = evolution_.getBackedgeTakenCount(&loop_);
        if (llvm::isa<llvm::SCEVCouldNotCompute>(iterations)) return false;
        for (llvm::PHINode& phi : loop_.getHeader()->phis()) {
            if (!phi.getType()->isIntegerTy(64)) continue;
            const auto* along = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(&phi));
            if (along == nullptr || along->getLoop() != &loop_ || !along->isAffine()) continue;
            const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(along->getStepRecurrence(evolution_));
            if (step == nullptr || !step->getAPInt().isStrictlyPositive() ||
                iterations->getType() != phi.getType())
                continue;
            counter_ = &phi;
            step_ = step->getAPInt().getSExtValue();
            last_ = along->evaluateAtIteration(iterations, evolution_);
            return llvm::SCEVExpander(evolution_, layout_, "last").isSafeToExpand(last_);
        }
        return false;
    }

    // Whether the pointer comes from memory that the loop reads in order, by steps that can be repeated.
    bool is_gather(llvm::Value* pointer) {
        Slice slice;
        if (!collect(pointer, slice) || !slice.loads) return false;
        repeated_.insert(slice.instructions.begin(), slice.instructions.end());
        return true;
    }

    struct Slice {
        std::set<llvm::Instruction*> instructions;
        bool loads = false;
    };

    bool collect(llvm::Value* value, Slice& slice) const {
        auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
        if (instruction == nullptr || !loop_.contains(instruction) || instruction == counter_) return true;
        if (slice.instructions.contains(instruction)) return true;
        if (!can_repeat(*instruction) || slice.instructions.size() >= kMostInstructions) return false;
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
            // Positions that are gathered themselves would be waited for.
            Slice address;
            if (!collect(load->getPointerOperand(), address) || address.loads) return false;
            slice.loads = true;
        }
        slice.instructions.insert(instruction);
        for (llvm::Value* operand : instruction->operands()) {
            if (!collect(operand, slice)) return false;
        }
        return true;
    }

    static bool can_repeat(const llvm::Instruction& instruction) {
        if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
        if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
            return call->doesNotAccessMemory() && !call->isConvergent();
        return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                         llvm::SelectInst, llvm::GetElementPtrInst, llvm::FreezeInst,
                         llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(
            instruction);
    }

    // Each of these instructions again, behind it, as it will be later.
    void repeat() {
        llvm::BasicBlock* before = loop_.getLoopPreheader();
        if (before == nullptr)
            before = llvm::InsertPreheaderForLoop(&loop_, &dominators_, &loops_, /*MSSAU=*/nullptr,
                                                  /*PreserveLCSSA=*/false);
        llvm::SCEVExpander expander(evolution_, layout_, "last");
        llvm::Value* const last = expander.expandCodeFor(last_, counter_->getType(), before->getTerminator());
        llvm::BasicBlock& block = *loop_.getHeader();
        llvm::IRBuilder<> builder(&block, block.getFirstInsertionPt());
        const int64_t ahead = (kElementsAhead + step_ - 1) / step_ * step_;
        later_[counter_] = builder.CreateBinaryIntrinsic(
            llvm::Intrinsic::smin,
            builder.CreateAdd(counter_, llvm::ConstantInt::getSigned(counter_->getType(), ahead)), last);
        std::vector<llvm::Instruction*> in_order;
        for (llvm::Instruction& instruction : block) {
            if (repeated_.contains(&instruction)) in_order.push_back(&instruction);
        }
        for (llvm::Instruction* instruction : in_order) {
            llvm::Instruction* const copy = instruction->clone();
            copy->insertAfter(instruction);
            for (llvm::Use& operand : copy->operands()) {
                const auto found = later_.find(operand.get());
                if (found != later_.end()) operand.set(found->second);
            }
            later_[instruction] = copy;
        }
    }

    void prefetch(llvm::Instruction* read) {
        llvm::IRBuilder<> builder(read);
        llvm::Value* const pointer = later_.at(position_read(*read));
        const auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(pointer->getType());
        for (unsigned lane = 0; lane < (lanes == nullptr ? 1 : lanes->getNumElements()); ++lane) {
            llvm::Value* const address = lane_of(builder, pointer, lane);
            builder.CreateIntrinsic(
                llvm::Intrinsic::prefetch, {address->getType()},
                {address, builder.getInt32(0), builder.getInt32(kIntoSecondCache), builder.getInt32(1)});
        }
        unused_.emplace_back(pointer);
    }

    // A vector's gather waits for all its elements, and fewer loads are on the way.
    void read_one_by_one(llvm::IntrinsicInst* gather) {
        if (gather->getIntrinsicID() != llvm::Intrinsic::masked_gather ||
            !llvm::PatternMatch::match(gather->getArgOperand(2), llvm::PatternMatch::m_AllOnes()))
            return;
        const auto* type = llvm::cast<llvm::FixedVectorType>(gather->getType());
        const llvm::Align align(llvm::cast<llvm::ConstantInt>(gather->getArgOperand(1))->getZExtValue());
        llvm::IRBuilder<> builder(gather);
        llvm::Value* const pointers = gather->getArgOperand(0);
        llvm::Value* elements = llvm::PoisonValue::get(gather->getType());
        for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
            llvm::LoadInst* const load =
                builder.CreateAlignedLoad(type->getElementType(), lane_of(builder, pointers, lane), align);
            load->copyMetadata(*gather);
            elements = builder.CreateInsertElement(elements, load, lane);
        }
        gather->replaceAllUsesWith(elements);
        gather->eraseFromParent();
        unused_.emplace_back(pointers);
    }

    // One lane of a vector, computed anew where its instructions let it: cheaper than taking it out.
    static llvm::Value* lane_of(llvm::IRBuilder<>& builder, llvm::Value* value, unsigned lane) {
        if (!value->getType()->isVectorTy()) return value;
        if (llvm::Value* const same = llvm::getSplatValue(value)) return same;
        if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
            if (llvm::Constant* const element = constant->getAggregateElement(lane)) return element;
        }
        llvm::Type* const type = llvm::cast<llvm::FixedVectorType>(value->getType())->getElementType();
        const auto operand = [&](unsigned number) {
            return lane_of(builder, llvm::cast<llvm::Instruction>(value)->getOperand(number), lane);
        };
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) {
            llvm::LoadInst* const element = builder.CreateAlignedLoad(
                type, builder.CreateConstGEP1_64(type, load->getPointerOperand(), lane), llvm::Align(1));
            element->copyMetadata(*load);
            return element;
        }
        if (auto* two = llvm::dyn_cast<llvm::BinaryOperator>(value))
            return builder.CreateBinOp(two->getOpcode(), operand(0), operand(1));
        if (auto* cast = llvm::dyn_cast<llvm::CastInst>(value))
            return builder.CreateCast(cast->getOpcode(), operand(0), type);
        if (auto* compare = llvm::dyn_cast<llvm::ICmpInst>(value))
            return builder.CreateICmp(compare->getPredicate(), operand(0), operand(1));
        if (llvm::isa<llvm::SelectInst>(value))
            return builder.CreateSelect(operand(0), operand(1), operand(2));
        if (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(value)) {
            std::vector<llvm::Value*> indices;
            for (unsigned k = 1; k < step->getNumOperands(); ++k) indices.push_back(operand(k));
            return builder.CreateGEP(step->getSourceElementType(), operand(0), indices);
        }
        return builder.CreateExtractElement(value, lane);
    }

    llvm::Loop& loop_;
    llvm::LoopInfo& loops_;
    llvm::DominatorTree& dominators_;
    llvm::ScalarEvolution& evolution_;
    const llvm::DataLayout& layout_;
    llvm::PHINode* counter_ = nullptr;
    int64_t step_ = 0;
    const llvm::SCEV* last_ = nullptr;
    std::set<llvm::Instruction*> repeated_;
    std::unordered_map<llvm::Value*, llvm::Value*> later_;
    llvm::SmallVector<llvm::WeakTrackingVH, 8> unused_;  // perhaps: vectors whose lanes were computed instead
};

}  // namespace

llvm::PreservedAnalyses GatherPrefetchPass::run(llvm::Function& function,
                                                llvm::FunctionAnalysisManager& analyses) {
    if (!function.hasFnAttribute(kGatherPrefetchAttribute)) return llvm::PreservedAnalyses::all();
    llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    bool changed = false;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost()) continue;
        changed |=
            PrefetchedLoop(*loop, loops, dominators, evolution, function.getParent()->getDataLayout()).run();
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace weft::codegen
