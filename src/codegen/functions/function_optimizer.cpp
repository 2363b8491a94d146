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
#include <llvm/Transforms/IPO/DeadArgumentElimination.h>
#include <llvm/Transforms/IPO/FunctionAttrs.h>
#include <llvm/Transforms/IPO/GlobalOpt.h>
#include <llvm/Transforms/IPO/Inliner.h>
#include <llvm/Transforms/IPO/SCCP.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/BDCE.h>
#include <llvm/Transforms/Scalar/ConstraintElimination.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/DivRemPairs.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/InferAlignment.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopIdiomRecognize.h>
#include <llvm/Transforms/Scalar/LoopLoadElimination.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/LowerConstantIntrinsics.h>
#include <llvm/Transforms/Scalar/Reassociate.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/TailRecursionElimination.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <llvm/Transforms/Vectorize/VectorCombine.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/float_to_integer.h"
#include "codegen/llvm/narrow_division.h"
#include "codegen/llvm/vector_math.h"
#include "codegen/runtime/lazy_parts.h"
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

bool stays(const llvm::Function& function) {
    return !function.isDeclaration() && function.hasInternalLinkage() &&
           !function.hasFnAttribute(llvm::Attribute::AlwaysInline) && !function.hasFnAttribute(kLazyCall);
}

bool is_call_of(const llvm::Use& use) {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    return call != nullptr && call->isCallee(&use);
}

// What is called in one place would be inlined in the end. Before it is simplified, it is so once.
void inline_single_calls(llvm::Module& module) {
    for (llvm::Function& function : module) {
        if (!stays(function) || function.hasFnAttribute(llvm::Attribute::NoInline) || !function.hasOneUse() ||
            !is_call_of(*function.use_begin()))
            continue;
        const auto& call = llvm::cast<llvm::CallBase>(*function.user_back());
        if (call.getFunction() != &function) function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
}

// Whether functions of the module call others that stay functions, besides those of parts.
bool has_callees(const llvm::Module& module) {
    return std::ranges::any_of(module, [](const llvm::Function& function) {
        return stays(function) && llvm::any_of(function.uses(), is_call_of);
    });
}

llvm::SimplifyCFGPass branches(llvm::SimplifyCFGOptions options) {
    return llvm::SimplifyCFGPass(options.convertSwitchRangeToICmp(true));
}

llvm::FunctionPassManager simple_operations() {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::LowerConstantIntrinsicsPass());  // operations ask whether they divide by a constant
    passes.addPass(llvm::JumpThreadingPass());  // flags that loops leave, before they become selects
    passes.addPass(llvm::SimplifyCFGPass());
    return passes;
}

// Loops that are to be lanes, before they are unrolled: few iterations always are, and what is left of them
// is no loop.
llvm::FunctionPassManager lanes() {
    llvm::LoopPassManager rotated;
    rotated.addPass(llvm::LICMPass(llvm::LICMOptions()));
    rotated.addPass(llvm::IndVarSimplifyPass());
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rotated), /*UseMemorySSA=*/true));
    passes.addPass(llvm::LoopVectorizePass(
        llvm::LoopVectorizeOptions(/*InterleaveOnlyWhenForced=*/true, /*VectorizeOnlyWhenForced=*/true)));
    passes.addPass(llvm::SimplifyCFGPass());
    return passes;
}

llvm::FunctionPassManager simpler_function() {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::JumpThreadingPass());
    passes.addPass(llvm::CorrelatedValuePropagationPass());
    passes.addPass(branches({}));
    passes.addPass(llvm::TailCallElimPass());
    passes.addPass(llvm::ReassociatePass());
    passes.addPass(llvm::ConstraintEliminationPass());
    llvm::LoopPassManager rotated;
    llvm::LICMOptions no_speculation;
    no_speculation.AllowSpeculation = false;
    rotated.addPass(llvm::LICMPass(no_speculation));
    rotated.addPass(llvm::LoopRotatePass());
    rotated.addPass(llvm::LICMPass(llvm::LICMOptions()));
    rotated.addPass(llvm::SimpleLoopUnswitchPass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rotated), /*UseMemorySSA=*/true,
                                                         /*UseBlockFrequencyInfo=*/true));
    passes.addPass(branches({}));
    passes.addPass(llvm::InstCombinePass());
    llvm::LoopPassManager counted;
    counted.addPass(llvm::LoopIdiomRecognizePass());
    counted.addPass(llvm::IndVarSimplifyPass());
    counted.addPass(llvm::LoopDeletionPass());
    counted.addPass(llvm::LoopFullUnrollPass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(counted)));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::GVNPass());
    passes.addPass(llvm::BDCEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::JumpThreadingPass());
    passes.addPass(llvm::CorrelatedValuePropagationPass());
    passes.addPass(llvm::DSEPass());
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
    passes.addPass(branches(llvm::SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true)));
    return passes;
}

llvm::FunctionPassManager vectors() {
    llvm::FunctionPassManager passes;
    // Once loops of few iterations are unrolled, sums of narrow integers are seen whole, and are computed in
    // narrow lanes.
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::AggressiveInstCombinePass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(SmallSwitchesPass());
    passes.addPass(llvm::LoopVectorizePass());
    passes.addPass(llvm::LoopLoadEliminationPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(branches(llvm::SimplifyCFGOptions()
                                .forwardSwitchCondToPhi(true)
                                .convertSwitchToLookupTable(true)
                                .needCanonicalLoops(false)
                                .hoistCommonInsts(true)
                                .sinkCommonInsts(true)));
    // Of straight code the vectoriser makes vectors of two that cost more to fill than they save: a generator
    // of random numbers in a loop took 2.8 times as long.
    passes.addPass(llvm::VectorCombinePass());
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2)));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    passes.addPass(llvm::InferAlignmentPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
    passes.addPass(llvm::DivRemPairsPass());
    passes.addPass(branches(llvm::SimplifyCFGOptions().speculateUnpredictables(true)));
    passes.addPass(FloatToIntegerPass());  // what is no vector by now
    passes.addPass(llvm::EarlyCSEPass());
    return passes;
}

void add(llvm::ModulePassManager& pipeline, llvm::FunctionPassManager passes) {
    pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes), /*EagerlyInvalidate=*/true));
}

// Of LLVM's list for -O2 what changes the machine code of the loop programs, and what is there for their
// like.
llvm::ModulePassManager pipeline_of(const llvm::Module& module) {
    const bool calls = has_callees(module);
    llvm::ModulePassManager pipeline;
    pipeline.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    add(pipeline, simple_operations());
    if (has_lanes(module)) add(pipeline, lanes());
    llvm::FunctionPassManager again;
    again.addPass(llvm::EarlyCSEPass());
    if (calls) {
        add(pipeline, std::move(again));
        pipeline.addPass(llvm::IPSCCPPass());
        again = llvm::FunctionPassManager();
    }
    pipeline.addPass(llvm::GlobalOptPass());
    again.addPass(llvm::InstCombinePass());
    again.addPass(branches({}));
    add(pipeline, std::move(again));
    llvm::CGSCCPassManager components;
    if (calls) components.addPass(llvm::InlinerPass());
    components.addPass(llvm::PostOrderFunctionAttrsPass(/*SkipNonRecursive=*/true));
    components.addPass(llvm::createCGSCCToFunctionPassAdaptor(simpler_function(), /*EagerlyInvalidate=*/true,
                                                              /*NoRerun=*/true));
    if (calls) components.addPass(llvm::PostOrderFunctionAttrsPass());
    pipeline.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(std::move(components)));
    if (calls) pipeline.addPass(llvm::DeadArgumentEliminationPass());
    add(pipeline, vectors());
    return pipeline;
}

// A compilation's analyses.
struct Analyses {
    explicit Analyses(llvm::PassBuilder& builder) {
        builder.registerModuleAnalyses(modules);
        builder.registerCGSCCAnalyses(components);
        builder.registerFunctionAnalyses(functions);
        builder.registerLoopAnalyses(loops);
        builder.crossRegisterProxies(loops, functions, components, modules);
    }
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
};

}  // namespace

void optimize_function(llvm::Module& module, llvm::TargetMachine& machine, bool verify) {
    if (verify) check(module);
    inline_single_calls(module);
    llvm::PassBuilder builder(&machine);
    Analyses analyses(builder);
    pipeline_of(module).run(module, analyses.modules);
    define_rare_ways(module);
}

void optimize_quickly(llvm::Module& module, llvm::TargetMachine& machine, bool verify) {
    if (verify) check(module);
    llvm::PassBuilder builder(&machine);
    Analyses analyses(builder);
    llvm::ModulePassManager pipeline;
    pipeline.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::LowerConstantIntrinsicsPass());  // operations ask whether they divide by a constant
    passes.addPass(llvm::SimplifyCFGPass());
    add(pipeline, std::move(passes));
    pipeline.run(module, analyses.modules);
    define_rare_ways(module);
}

void optimize_launch(llvm::Module& module, llvm::TargetMachine& machine, bool verify) {
    if (verify) check(module);
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = false;
    tuning.LoopInterleaving = false;
    tuning.LoopUnrolling = true;
    tuning.SLPVectorization = false;
    llvm::PassBuilder builder(&machine, tuning);
    Analyses analyses(builder);
    llvm::ModulePassManager pipeline;
    pipeline.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(simple_operations()));
    // Loops of a tile are unrolled whole: that is what this level has.
    pipeline.addPass(builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
    llvm::FunctionPassManager last;
    last.addPass(NarrowDivisionPass());
    last.addPass(llvm::SimplifyCFGPass());
    pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(last)));
    pipeline.run(module, analyses.modules);
}

}  // namespace weft::codegen
