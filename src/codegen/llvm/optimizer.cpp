#include "codegen/llvm/optimizer.h"

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/LowerConstantIntrinsics.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <llvm/Transforms/Vectorize/SLPVectorizer.h>

#include <string>

#include "codegen/llvm/gather_prefetch.h"
#include "codegen/llvm/narrow_division.h"
#include "codegen/llvm/prefetch.h"
#include "codegen/llvm/transposition.h"
#include "codegen/llvm/vector_math.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

void check(const llvm::Module& module) {
    std::string complaint;
    llvm::raw_string_ostream stream(complaint);
    if (llvm::verifyModule(module, &stream)) throw InternalError("malformed LLVM IR: " + stream.str());
}

// Inlines what is to be, then runs the passes over what is left.
void run(llvm::Module& module, llvm::TargetMachine& machine, llvm::FunctionPassManager passes) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::ModulePassManager pipeline;
    pipeline.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
    pipeline.run(module, modules);
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine, bool verify) {
    if (verify) check(module);
    // The ABI packs the parts of a complex64 into a vector wherever a function of the operations' bitcode
    // took or gave one; loops of such vectors would not be vectorised.
    llvm::ScalarizerPassOptions scalarizer;
    scalarizer.ScalarizeVariableInsertExtract = false;
    scalarizer.ScalarizeLoadStore = true;

    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::ScalarizerPass(scalarizer));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::LowerConstantIntrinsicsPass());  // operations ask whether they divide by a constant
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
    // Loops of two or three iterations inside an operation stand in the way of the loop around it. The lanes
    // of reductions, which are more, must stay loops until they are vectorised.
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2)
                                            .setPartial(false)
                                            .setRuntime(false)
                                            .setPeeling(false)
                                            .setUpperBound(false)
                                            .setFullUnrollMaxCount(4)));
    passes.addPass(llvm::LoopVectorizePass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(TransposePass());
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2)));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(PrefetchPass());
    passes.addPass(GatherPrefetchPass());
    run(module, machine, std::move(passes));
    if (!define_rare_ways(module)) return;
    llvm::FunctionPassManager of_branches;
    of_branches.addPass(llvm::EarlyCSEPass());  // they ask the same of one angle
    run(module, machine, std::move(of_branches));
}

void inline_operations(llvm::Module& module, llvm::TargetMachine& machine) {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    run(module, machine, std::move(passes));
}

void optimize_for_ptx(llvm::Module& module, llvm::TargetMachine& machine, bool verify) {
    if (verify) check(module);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::LowerConstantIntrinsicsPass());  // as above
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2)));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(NarrowDivisionPass());
    passes.addPass(llvm::SimplifyCFGPass());
    run(module, machine, std::move(passes));
}

}  // namespace weft::codegen
