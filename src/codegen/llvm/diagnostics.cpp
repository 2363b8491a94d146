#include "codegen/llvm/diagnostics.h"

#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

namespace weft::codegen {

bool Diagnostics::handleDiagnostics(const llvm::DiagnosticInfo& info) {
    if (const auto* remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info)) {
        if (enabled(remark->getPassName()))
            *remarks_ += remark->getPassName().str() + ": " + remark->getMsg() + "\n";
    } else if (info.getSeverity() == llvm::DS_Error) {
        llvm::raw_string_ostream stream(errors_);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info.print(printer);
    }
    return true;
}

}  // namespace weft::codegen
