#include "codegen/llvm/prefetch.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <set>
#include <utility>
#include <vector>

namespace weft::codegen {

namespace {

constexpr int64_t kPrefetchBytes = 4096;
constexpr int64_t kCacheLine = 64;
constexpr uint64_t kVectorBytes = 32;

}  // namespace

llvm::PreservedAnalyses PrefetchPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    if (!function.hasFnAttribute(kPrefetchAttribute)) return llvm::PreservedAnalyses::all();
    const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    const llvm::DataLayout& layout = function.getParent()->getDataLayout();
    std::vector<llvm::Instruction*> accesses;
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost()) continue;
        std::set<std::pair<const llvm::Value*, int64_t>> lines;
        for (llvm::BasicBlock* block : loop->blocks()) {
            for (llvm::Instruction& instruction : *block) {
                const bool writes = llvm::isa<llvm::StoreInst>(instruction);
                if (!writes && !llvm::isa<llvm::LoadInst>(instruction)) continue;
                if (instruction.hasMetadata(llvm::LLVMContext::MD_nontemporal)) continue;
                llvm::Type* type = llvm::getLoadStoreType(&instruction);
                if (!type->isVectorTy() || layout.getTypeStoreSize(type) < kVectorBytes) continue;
                const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
                if (loop->isLoopInvariant(pointer) ||
                    llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer)))
                    continue;
                llvm::APInt offset(64, 0);
                const llvm::Value* base =
                    pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
                if (lines.emplace(base, offset.getSExtValue() / kCacheLine).second)
                    accesses.push_back(&instruction);
            }
        }
    }
    for (llvm::Instruction* access : accesses) {
        llvm::IRBuilder<> builder(access);
        llvm::Value* ahead =
            builder.CreateConstGEP1_64(builder.getInt8Ty(), llvm::getLoadStorePointerOperand(access),
                                       static_cast<uint64_t>(kPrefetchBytes));
        const int writes = llvm::isa<llvm::StoreInst>(access) ? 1 : 0;
        builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                                {ahead, builder.getInt32(static_cast<uint32_t>(writes)), builder.getInt32(3),
                                 builder.getInt32(1)});
    }
    return accesses.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace weft::codegen
