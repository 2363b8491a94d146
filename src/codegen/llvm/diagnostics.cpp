#include "codegen/llvm/diagnostics.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Support/raw_ostream.h>

#include <utility>

namespace weft::codegen {

namespace {

// The loop of the program that begins with a block, or 0.
uint32_t site_of(const llvm::BasicBlock& header) {
    for (const llvm::BasicBlock* before : llvm::predecessors(&header)) {
        llvm::MDNode* const loop = before->getTerminator()->getMetadata(llvm::LLVMContext::MD_loop);
        if (loop == nullptr) continue;
        const llvm::MDNode* const property = llvm::findOptionMDForLoopID(loop, kLoopSite);
        if (property == nullptr) continue;
        return static_cast<uint32_t>(
            llvm::mdconst::extract<llvm::ConstantInt>(property->getOperand(1))->getZExtValue());
    }
    return 0;
}

}  // namespace

bool Diagnostics::handleDiagnostics(const llvm::DiagnosticInfo& info) {
    if (const auto* remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info)) {
        if (enabled(remark->getPassName()))
            remarks_->text += remark->getPassName().str() + ": " + remark->getMsg() + "\n";
        const auto* of_ir = llvm::dyn_cast<llvm::DiagnosticInfoIROptimization>(&info);
        if (of_ir != nullptr && enabled(of_ir->getPassName())) note_loop(*of_ir);
    } else if (info.getSeverity() == llvm::DS_Error) {
        llvm::raw_string_ostream stream(errors_);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info.print(printer);
    }
    return true;
}

// LLVM says first why, of some block of the loop, and then which loop it was.
void Diagnostics::note_loop(const llvm::DiagnosticInfoIROptimization& remark) {
    const bool is_passed = remark.getKind() == llvm::DK_OptimizationRemark;
    if (!is_passed && remark.getRemarkName() != "MissedDetails") {
        reason_ = remark.getRemarkName().str();
        return;
    }
    LoopRemark result;
    result.reason = std::exchange(reason_, {});
    const auto* const header = llvm::dyn_cast_or_null<llvm::BasicBlock>(remark.getCodeRegion());
    result.site = header == nullptr ? 0 : site_of(*header);
    if (result.site == 0) return;
    if (is_passed) result.reason.clear();
    for (const auto& argument : remark.getArgs()) {
        int64_t number = 0;
        if (llvm::StringRef(argument.Val).getAsInteger(10, number)) continue;
        if (argument.Key == "VectorizationFactor") result.lanes = number;
        if (argument.Key == "InterleaveCount") result.side_by_side = number;
    }
    remarks_->loops.push_back(std::move(result));
}

}  // namespace weft::codegen
