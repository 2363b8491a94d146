#include "codegen/llvm/target.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>

#include <mutex>

#include "codegen/llvm/host_cpu.h"
#include "codegen/runtime/llvm_guard.h"
#include "core/config.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

const llvm::Target& find_target() {
    static const llvm::Target* const target = [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        std::string error;
        const llvm::Target* found = llvm::TargetRegistry::lookupTarget(llvm::sys::getProcessTriple(), error);
        if (found == nullptr) throw InternalError("LLVM has no target for this machine: " + error);
        return found;
    }();
    return *target;
}

// run_llvm for what needs no engine.
template <class Work>
void call_llvm(Work&& work) {
    try {
        run_llvm(work);
    } catch (const LlvmGaveUp& failure) {
        failure.throw_as_error();
    }
}

// What LLVM may not use though the CPU has it. Before version 22 it turns masked comparisons of float16 the
// wrong way round where one side is in memory (llvm-project, issue 159723). Without the instructions float16
// is compared as float32, which gives the same.
std::string unused_features() {
    const bool is_wrong = LLVM_VERSION_MAJOR < 22 && llvm::Triple(llvm::sys::getProcessTriple()).isX86();
    return is_wrong ? "-avx512fp16" : "";
}

const TargetName& host_target() {
    static const TargetName host = [] {
        TargetName found;
        call_llvm([&] {
            llvm::SubtargetFeatures features;
            for (const auto& feature : llvm::sys::getHostCPUFeatures())
                features.AddFeature(feature.first(), feature.second);
            if (const std::string unused = unused_features(); !unused.empty())
                features.AddFeature(unused.substr(1), false);
            found = {llvm::sys::getHostCPUName().str(), features.getString()};
        });
        return TargetName(found);  // in memory that is not the reserve's
    }();
    return host;
}

}  // namespace

TargetName resolve_target(const std::string& cpu) {
    const std::string name = cpu.empty() ? config().cpu() : cpu;
    if (name.empty() || name == "host" || name == "native") return host_target();
    call_llvm([&] {
        const std::unique_ptr<llvm::MCSubtargetInfo> info(
            find_target().createMCSubtargetInfo(llvm::sys::getProcessTriple(), "", ""));
        if (!info->isCPUStringValid(name))
            throw ValueError("LLVM knows no CPU called '" + name + "' (WEFT_CPU)");
    });
    return {name, unused_features()};
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetName& name, bool quickly) {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    // Short loops take a fifth longer where they are in one block of decoded instructions more than they
    // need.
    options.LoopAlignment = 32;
    std::unique_ptr<llvm::TargetMachine> machine(find_target().createTargetMachine(
        llvm::sys::getProcessTriple(), name.cpu, name.features, options, llvm::Reloc::PIC_,
        llvm::CodeModel::Small, quickly ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default,
        /*JIT=*/true));
    if (machine == nullptr) throw InternalError("LLVM cannot compile for " + name.cpu);
    machine->setFastISel(quickly);
    return machine;
}

bool has_feature(const llvm::TargetMachine& machine, llvm::StringRef feature) {
    return machine.getMCSubtargetInfo()->checkFeatures(("+" + feature).str());
}

void set_target_attributes(llvm::Function& function, const llvm::TargetMachine& machine, int vector_bits) {
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("no-trapping-math", "true");
    if (has_feature(machine, "avx512f"))
        function.addFnAttr("prefer-vector-width", std::to_string(vector_bits));
}

std::string host_cpu() { return host_target().cpu; }
std::string host_features() { return host_target().features; }

bool runs_on_host(const std::string& cpu) {
    if (cpu.empty()) return true;
    bool runs = true;
    call_llvm([&] {
        // Only what the operating system reports counts: tuning flags are features to LLVM as well.
        const std::unique_ptr<llvm::MCSubtargetInfo> wanted(
            find_target().createMCSubtargetInfo(llvm::sys::getProcessTriple(), cpu, ""));
        for (const auto& feature : llvm::sys::getHostCPUFeatures())
            runs &= feature.second || !wanted->checkFeatures(("+" + feature.first()).str());
    });
    return runs;
}

}  // namespace weft::codegen
