#include "codegen/ptx/compiler.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codegen/bitcode/bitcode_library.h"
#include "codegen/functions/function_optimizer.h"
#include "codegen/llvm/diagnostics.h"
#include "codegen/llvm/engine_pool.h"
#include "codegen/llvm/fast_math.h"
#include "codegen/llvm/module_text.h"
#include "codegen/llvm/optimizer.h"
#include "codegen/ptx/gpu_math.h"
#include "codegen/ptx/invariant_division.h"
#include "codegen/ptx/launch_lowering.h"
#include "codegen/ptx/libdevice.h"
#include "codegen/ptx/lowering.h"
#include "core/config.h"
#include "core/log.h"
#include "core/optimisation_switches.h"
#include "core/threads/fork.h"
#include "ir/calls.h"
#include "ir/printer.h"
#include "passes/pipeline.h"
#include "passes/thread_order.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

const llvm::Target& find_target() {
    static const llvm::Target* const target = [] {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
        std::string error;
        const llvm::Target* found = llvm::TargetRegistry::lookupTarget(kTriple, error);
        if (found == nullptr) throw InternalError("LLVM has no target for GPUs: " + error);
        return found;
    }();
    return *target;
}

std::unique_ptr<llvm::TargetMachine> make_machine(int sm) {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    // The first version of PTX that adds pairs of 16 bits; drivers before it are refused.
    const char* const features = sm >= 90 ? "+ptx80" : "";
    std::unique_ptr<llvm::TargetMachine> machine(
        find_target().createTargetMachine(kTriple, "sm_" + std::to_string(sm), features, options,
                                          std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
    if (machine == nullptr) throw InternalError("LLVM cannot compile for sm_" + std::to_string(sm));
    return machine;
}

// A context with what is dear to make in it.
class Engine {
public:
    llvm::LLVMContext& context() { return context_; }
    BitcodeLibrary& library() { return library_; }
    llvm::TargetMachine& machine(int sm) {
        std::unique_ptr<llvm::TargetMachine>& machine = machines_[sm];
        if (machine == nullptr) machine = make_machine(sm);
        return *machine;
    }
    GpuMath& gpu_math() {
        if (gpu_math_ == nullptr) gpu_math_ = std::make_unique<GpuMath>(context_);
        return *gpu_math_;
    }
    Libdevice& libdevice(const std::string& path) {
        if (libdevice_ == nullptr || path != libdevice_path_) {
            libdevice_ = std::make_unique<Libdevice>(context_, path);
            libdevice_path_ = path;
        }
        return *libdevice_;
    }

private:
    llvm::LLVMContext context_;
    BitcodeLibrary library_{context_, BitcodeTarget::kPtx};
    std::map<int, std::unique_ptr<llvm::TargetMachine>> machines_;
    std::unique_ptr<GpuMath> gpu_math_;
    std::unique_ptr<Libdevice> libdevice_;
    std::string libdevice_path_;
};

EnginePool<Engine>& engine_pool() {
    static auto* const pool = new EnginePool<Engine>;  // threads may still compile while the process exits
    return *pool;
}

// What is compiled, and how it is lowered.
struct Unit {
    const ir::Function& kernel;
    std::function<void(llvm::Module&, BitcodeLibrary&, CudaKernelImage&)> lower;
};

CudaKernelImage compile(Engine& engine, const Unit& unit, const PtxOptions& options, PtxTexts* texts) {
    const ir::Function& kernel = unit.kernel;
    const auto begin = std::chrono::steady_clock::now();
    const bool show_llvm = debug_enabled(DebugLevel::kLlvm, kernel.name);
    std::string errors;
    engine.context().setDiagnosticHandler(std::make_unique<Diagnostics>(errors, nullptr));
    llvm::TargetMachine& machine = engine.machine(options.sm);
    llvm::Module module(kernel.name, engine.context());
    module.setTargetTriple(kTriple);
    module.setDataLayout(machine.createDataLayout());

    CudaKernelImage image;
    image.name = kernel.name;
    image.sm = options.sm;
    unit.lower(module, engine.library(), image);
    ask_by_comparisons(module);
    const bool uses_gpu_math = GpuMath::is_needed(module);
    if (uses_gpu_math) engine.gpu_math().replace_operations(module);
    if (options.fast_math) allow_fast_math(module, BitcodeTarget::kPtx);
    if (options.fast_math && !kernel.is_kernel) approximate_functions(module);
    const bool divides = module.getFunction("weft_divide_f32_f32_to_f32") != nullptr;
    if (uses_gpu_math || divides || has_sine_and_cosine(module)) inline_operations(module, machine);
    if (uses_gpu_math) engine.gpu_math().define(module);
    if (GpuMath::writes_numbers(module)) engine.gpu_math().define_writers(module);
    if (divides) multiply_by_reciprocals(module);
    const bool uses_libdevice = needs_libdevice(module);
    if (uses_libdevice) engine.libdevice(options.libdevice).define_vector_math(module, options.sm);
    if (show_llvm) log_line("LLVM IR of " + kernel.name + " before optimisation:\n" + ir_text(module));
    if (kernel.is_kernel) {
        optimize_for_ptx(module, machine, config().verify);
    } else {
        optimize_launch(module, machine, config().verify);
    }
    if (show_llvm) log_line("LLVM IR of " + kernel.name + " after optimisation:\n" + ir_text(module));
    if (texts != nullptr) {
        texts->llvm_ir = ir_text(module);
        texts->uses_gpu_math = uses_gpu_math;
        texts->uses_libdevice = uses_libdevice;
    }
    image.ptx = emit_assembly(module, machine);
    if (!errors.empty()) throw InternalError("LLVM: " + errors);
    engine.context().setDiagnosticHandler(nullptr);
    if (debug_enabled(DebugLevel::kAssembly, kernel.name))
        log_line("PTX of " + kernel.name + ":\n" + image.ptx);
    image.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return image;
}

// On an engine of the pool, with the IR where weft is at fault.
CudaKernelImage compile_on_engine(const Unit& unit, const PtxOptions& options, PtxTexts* texts) {
    try {
        return engine_pool().run([&](Engine& engine) { return compile(engine, unit, options, texts); },
                                 [&](const CudaKernelImage& image) {
                                     if (texts != nullptr) *texts = PtxTexts(*texts);
                                     return CudaKernelImage(image);
                                 });
    } catch (const InternalError& error) {
        throw InternalError(std::string(error.what()) + "\nkernel IR:\n" + ir::print(unit.kernel));
    }
}

}  // namespace

CudaKernelImage compile_ptx(const ir::Module& module, const std::string& kernel_name,
                            const PtxOptions& options, PtxTexts* texts) {
    const ForkExclusion exclusion;  // LLVM has locks of its own
    const auto prepared = [&](const std::string& name) {
        const ir::Function* found = module.find(name);
        if (found == nullptr) throw InternalError("the module has no kernel " + name);
        ir::Function kernel = *found;
        passes::run_gpu_pipeline(module, kernel);
        if (texts != nullptr) texts->ir_after_passes += ir::print(kernel);
        return kernel;
    };
    const ir::Function kernel = prepared(kernel_name);
    std::optional<ir::Function> second;
    if (!options.second.empty()) second = prepared(options.second);
    const PtxLoweringOptions lowering{.wide = options.wide, .unaligned = options.unaligned};
    return compile_on_engine({kernel,
                              [&](llvm::Module& into, BitcodeLibrary& library, CudaKernelImage& image) {
                                  lower_for_ptx(kernel, second ? &*second : nullptr, lowering, into, library,
                                                image);
                              }},
                             options, texts);
}

std::string as_comments(const std::string& ir, const PrintedBySite& printed) {
    std::string text = "// weft kernel IR\n";
    const auto add = [&](const std::string& lines) {
        for (size_t line = 0; line < lines.size();) {
            const size_t end = std::min(lines.find('\n', line), lines.size());
            text += "// " + lines.substr(line, end - line) + "\n";
            line = end + 1;
        }
    };
    add(ir);
    text += "// end of kernel IR\n";
    if (!printed.empty()) text += "// what it prints\n";
    add(text_of(printed));
    return printed.empty() ? text : text + "// end of what it prints\n";
}

CudaKernelImage compile_launch_for_ptx(const ir::Module& module, const std::string& entry,
                                       const PtxOptions& options, PtxTexts* texts) {
    const ForkExclusion exclusion;  // as above
    const ir::Function* found = module.find(entry);
    if (found == nullptr) throw InternalError("the module has no function " + entry);
    ir::Module prepared;
    const auto prepare = [&](const ir::Function& function) {
        ir::Function& kept = prepared.functions.emplace_back(function);
        passes::run_launch_pipeline(module, kept);
        if (texts != nullptr) texts->ir_after_passes += ir::print(kept);
    };
    prepare(*found);
    for (const ir::Function& each : ir::called_functions(module, *found)) prepare(each);
    ir::Function kernel = prepared.functions[0];
    const std::vector<ir::Function> callees = ir::called_functions(prepared, kernel);  // that passes left
    if (is_on(OptimisationSwitch::kThreadOrder) && passes::order_threads(kernel, options.block) &&
        texts != nullptr)
        texts->ir_after_passes += ir::print(kernel);
    return compile_on_engine({kernel,
                              [&](llvm::Module& into, BitcodeLibrary& library, CudaKernelImage& image) {
                                  lower_launch_for_ptx(kernel, callees, module.lines, options, into, library,
                                                       image);
                              }},
                             options, texts);
}

}  // namespace weft::codegen
