#include "codegen/functions/function_optimizer.h"

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/AggressiveInstCombine/AggressiveInstCombine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LowerConstantIntrinsics.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/float_to_integer.h"
#include "codegen/llvm/narrow_division.h"
#include "codegen/llvm/vector_math.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

// Whether there are loops that are to be lanes of vectors (ir::Instruction::lanes).
bool has_lanes(const llvm::Module& module) {
    for (const llvm::Function& function : module) {
        for (const llvm::BasicBlock& block : function) {
            const llvm::Instruction* end = block.getTerminator();
            llvm::MDNode* const loop =
                end == nullptr ? nullptr : end->getMetadata(llvm::LLVMContext::MD_loop);
            if (loop != nullptr && llvm::findOptionMDForLoopID(loop, kLanesProperty) != nullptr) return true;
        }
    }
    return false;
}

// Comparisons one after another, which are what the vectoriser understands, in place of switches of few cases
// in innermost loops. Those that it leaves become switches again.
class SmallSwitchesPass : public llvm::PassInfoMixin<SmallSwitchesPass> {
public:
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
        const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
        std::vector<llvm::SwitchInst*> found;
        for (llvm::BasicBlock& block : function) {
            auto* const choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
            const llvm::Loop* const loop = loops.getLoopFor(&block);
            if (choice != nullptr && loop != nullptr && loop->isInnermost() && choice->getNumCases() > 0 &&
                choice->getNumCases() <= kMostCases)
                found.push_back(choice);
        }
        for (llvm::SwitchInst* const choice : found) expand(*choice);
        return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
    }

private:
    static constexpr unsigned kMostCases = 4;

    static void expand(llvm::SwitchInst& choice) {
        llvm::BasicBlock* const first = choice.getParent();
        std::vector<std::pair<llvm::BasicBlock*, llvm::BasicBlock*>> edges;
        llvm::BasicBlock* from = first;
        for (const auto& each : choice.cases()) {
            const bool is_last = each.getCaseIndex() + 1 == choice.getNumCases();
            llvm::BasicBlock* const next =
                is_last ? choice.getDefaultDest()
                        : llvm::BasicBlock::Create(choice.getContext(), "", first->getParent(),
                                                   first->getNextNode());
            llvm::IRBuilder<> builder(from);
            if (from == first) builder.SetInsertPoint(&choice);
            builder.CreateCondBr(builder.CreateICmpEQ(choice.getCondition(), each.getCaseValue()),
                                 each.getCaseSuccessor(), next);
            edges.emplace_back(from, each.getCaseSuccessor());
            if (is_last) edges.emplace_back(from, next);
            from = next;
        }
        // Phis have an entry for each edge.
        const std::set<llvm::BasicBlock*> targets(llvm::succ_begin(&choice), llvm::succ_end(&choice));
        for (llvm::BasicBlock* const target : targets) {
            for (llvm::PHINode& phi : target->phis()) {
                llvm::Value* const value = phi.getIncomingValueForBlock(first);
                while (phi.getBasicBlockIndex(first) >= 0)
                    phi.removeIncomingValue(first, /*DeletePHIIfEmpty=*/false);
                for (const auto& [by, to] : edges) {
                    if (to == target) phi.addIncoming(value, by);
                }
            }
        }
        choice.eraseFromParent();
    }
};

void check(const llvm::Module& module) {
    std::string complaint;
    llvm::raw_string_ostream stream(complaint);
    if (llvm::verifyModule(module, &stream)) throw InternalError("malformed LLVM IR: " + stream.str());
}

void run(llvm::Module& module, llvm::TargetMachine& machine, bool makes_vectors,
         llvm::FunctionPassManager last) {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = makes_vectors;
    tuning.LoopInterleaving = makes_vectors;
    tuning.LoopUnrolling = true;
    // Of straight code it makes vectors of two that cost more to fill than they save: a generator of random
    // numbers in a loop took 2.8 times as long.
    tuning.SLPVectorization = false;
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine, tuning);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    // Once loops of few iterations are unrolled, sums of narrow integers are seen whole, and are computed in
    // narrow lanes.
    if (makes_vectors)
        builder.registerVectorizerStartEPCallback(
            [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
                passes.addPass(llvm::EarlyCSEPass());
                passes.addPass(llvm::AggressiveInstCombinePass());
                passes.addPass(llvm::InstCombinePass());
                passes.addPass(SmallSwitchesPass());
            });
    llvm::ModulePassManager pipeline;
    pipeline.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    llvm::FunctionPassManager operations;
    operations.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    operations.addPass(llvm::EarlyCSEPass());
    operations.addPass(llvm::InstCombinePass());
    operations.addPass(
        llvm::LowerConstantIntrinsicsPass());       // operations ask whether they divide by a constant
    operations.addPass(llvm::JumpThreadingPass());  // flags that loops leave, before they become selects
    operations.addPass(llvm::SimplifyCFGPass());
    pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(operations)));
    if (makes_vectors && has_lanes(module)) {
        // Before they are unrolled: few iterations always are, and what is left of them is no loop.
        llvm::FunctionPassManager lanes;
        llvm::LoopPassManager rotated;
        rotated.addPass(llvm::LICMPass(llvm::LICMOptions()));
        rotated.addPass(llvm::IndVarSimplifyPass());
        lanes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rotated), /*UseMemorySSA=*/true));
        lanes.addPass(llvm::LoopVectorizePass(
            llvm::LoopVectorizeOptions(/*InterleaveOnlyWhenForced=*/true, /*VectorizeOnlyWhenForced=*/true)));
        pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(lanes)));
    }
    // Loops of a tile are unrolled whole on GPUs: that is what the higher level has.
    const auto level = makes_vectors ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O3;
    pipeline.addPass(builder.buildPerModuleDefaultPipeline(level));
    pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(last)));
    pipeline.run(module, modules);
}

}  // namespace

void optimize_function(llvm::Module& module, llvm::TargetMachine& machine, bool verify) {
    if (verify) check(module);
    llvm::FunctionPassManager scalars;  // what is no vector by now
    scalars.addPass(FloatToIntegerPass());
    scalars.addPass(llvm::EarlyCSEPass());
    run(module, machine, /*makes_vectors=*/true, std::move(scalars));
    define_rare_ways(module);
}

void optimize_launch(llvm::Module& module, llvm::TargetMachine& machine, bool verify) {
    if (verify) check(module);
    llvm::FunctionPassManager last;
    last.addPass(NarrowDivisionPass());
    last.addPass(llvm::SimplifyCFGPass());
    run(module, machine, /*makes_vectors=*/false, std::move(last));
}

}  // namespace weft::codegen
