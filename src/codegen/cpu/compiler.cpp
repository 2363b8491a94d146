#include "codegen/cpu/compiler.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/MC/MCContext.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/bitcode/bitcode_library.h"
#include "codegen/cpu/lowering.h"
#include "codegen/cpu/strided_loop.h"
#include "codegen/cpu/vector_width.h"
#include "codegen/functions/function_optimizer.h"
#include "codegen/llvm/diagnostics.h"
#include "codegen/llvm/engine_pool.h"
#include "codegen/llvm/fast_math.h"
#include "codegen/llvm/module_text.h"
#include "codegen/llvm/optimizer.h"
#include "codegen/llvm/target.h"
#include "codegen/llvm/vector_math.h"
#include "codegen/runtime/nontemporal_copy.h"
#include "codegen/runtime/object_loader.h"
#include "core/config.h"
#include "core/log.h"
#include "core/optimisation_switches.h"
#include "core/threads/fork.h"
#include "core/threads/process_end.h"
#include "ir/builder.h"
#include "ir/calls.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "passes/calls/outline_unlikely.h"
#include "passes/pipeline.h"
#include "passes/threads/thread_fission.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

// A kernel or function with the memory of its machine code.
template <class Base, class Entry>
class Loaded final : public Base {
public:
    explicit Loaded(LoadedObject object) : object_(std::move(object)) {
        this->function = reinterpret_cast<Entry>(object_.function());
    }

private:
    LoadedObject object_;
};
using LoadedKernel = Loaded<CpuKernel, CpuKernelFunction>;

// The same with what it calls lazily.
class LoadedFunction final : public CompiledFunction {
public:
    LoadedFunction(LoadedObject object, size_t shared, PartMaker make)
        : object_(std::move(object)), parts_(std::move(make)), shared_(shared) {
        function = reinterpret_cast<CpuFunction>(object_.function());
        auto* table = static_cast<LazyTable*>(object_.data());
        if (table == nullptr) return;
        table->parts = &parts_;
        count_ = static_cast<size_t>(table->count);
    }

    double seconds_of_parts() const { return parts_.seconds(); }
    LazyPartCounts lazy_parts() const override { return {count_ - shared_, parts_.count(shared_)}; }

private:
    LoadedObject object_;
    LazyParts parts_;
    size_t shared_ = 0, count_ = 0;  // of the parts, which functions of other programs may be
};

// Which of LLVM's passes are left out. Branches in place of conditional moves mispredict with random
// elements: dynamic programming over texts took twice as long. Strength reduction takes a third to half of
// the time of compiling kernels with plain addresses, for code that is no faster: those whose loops read many
// buffers or rows side by side, and element-wise ones over contiguous elements. No loop program has integers
// that would be better off in registers of masks, nor are dead instructions left by other passes.
class PassGate final : public llvm::OptPassGate {
public:
    bool plain_addresses = false, is_function = false;

    bool isEnabled() const override { return plain_addresses || is_function; }
    bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) override {
        if (pass == "X86 cmov Conversion") return false;
        if (is_function &&
            (pass == "X86 Domain Reassignment Pass" || pass == "Remove dead machine instructions"))
            return false;
        return !plain_addresses || pass != "Loop Strength Reduction";
    }
};
constexpr std::ptrdiff_t kSideBySide = 5;  // loads

// LLVM's passes that emit object files. Making them takes a millisecond, so they are kept; what they know of
// a module is gone after it.
class ObjectEmitter {
public:
    explicit ObjectEmitter(llvm::TargetMachine& machine) {
        llvm::MCContext* context = nullptr;
        if (machine.addPassesToEmitMC(passes_, context, stream_, /*DisableVerify=*/true))
            throw InternalError("LLVM cannot emit machine code");
    }

    std::string emit(llvm::Module& module) {
        bytes_.clear();
        passes_.run(module);
        return {bytes_.begin(), bytes_.end()};
    }

private:
    llvm::SmallVector<char, 0> bytes_;
    llvm::raw_svector_ostream stream_{bytes_};
    llvm::legacy::PassManager passes_;
};

// A context with what is dear to make in it.
class Engine {
public:
    Engine() { context_.setOptPassGate(gate_); }
    PassGate& gate() { return gate_; }
    llvm::LLVMContext& context() { return context_; }
    BitcodeLibrary& library() { return library_; }

    // Stays until it is asked for with another name.
    struct Target {
        TargetName name{};
        std::unique_ptr<llvm::TargetMachine> machine{};
        std::optional<ObjectEmitter> emitter{};
    };
    Target& target(const TargetName& name, bool quickly) {
        Target& target = quickly ? quick_ : good_;
        if (target.machine == nullptr || target.name != name) {
            target.emitter.reset();
            target.machine = make_target_machine(name, quickly);
            target.name = name;
            target.emitter.emplace(*target.machine);
        }
        return target;
    }

private:
    PassGate gate_;
    llvm::LLVMContext context_;
    BitcodeLibrary library_{context_, BitcodeTarget::kCpu};
    Target good_, quick_;
};

EnginePool<Engine>& engine_pool() {
    static auto* const pool = new EnginePool<Engine>;  // threads may still compile while the process exits
    return *pool;
}

// Emitting changes the module, so a copy is emitted.
std::string assembly_of(const llvm::Module& module, llvm::TargetMachine& machine) {
    return emit_assembly(*llvm::CloneModule(module), machine);
}

std::atomic<int64_t> compiled_count{0};

// What is compiled: a kernel or function, and how it is lowered.
struct Unit {
    const ir::Function& kernel;
    int vector_bits;
    std::function<LoweredKernel(llvm::Module&, BitcodeLibrary&, bool appends_operations)> lower;
};

KernelObject compile(Engine& engine, const Unit& unit, const CompileOptions& options, CompiledTexts* texts) {
    const ir::Function& kernel = unit.kernel;
    const int vector_bits = unit.vector_bits;
    const auto begin = std::chrono::steady_clock::now();
    const bool show_llvm = debug_enabled(DebugLevel::kLlvm, kernel.name);
    const bool show_assembly = debug_enabled(DebugLevel::kAssembly, kernel.name);

    std::string errors;
    Remarks remarks;
    engine.context().setDiagnosticHandler(
        std::make_unique<Diagnostics>(errors, texts != nullptr ? &remarks : nullptr));
    Engine::Target& target = engine.target(resolve_target(options.cpu), options.quickly);
    llvm::TargetMachine& machine = *target.machine;
    llvm::Module module(kernel.name, engine.context());
    module.setTargetTriple(machine.getTargetTriple().str());
    module.setDataLayout(machine.createDataLayout());
    if (texts != nullptr) module.addModuleFlag(llvm::Module::Warning, kTellsLoops, 1);

    const LoweredKernel lowered = unit.lower(module, engine.library(), !options.fast_math);
    if (options.fast_math) allow_fast_math(module, BitcodeTarget::kCpu);
    engine.gate().is_function = !kernel.is_kernel;
    engine.gate().plain_addresses =
        kernel.is_kernel && (lowered.most_loads >= kSideBySide || lowered.contiguous);
    declare_vector_math(module, machine, options.vector_math);
    for (llvm::Function& function : module) {
        if (!function.isDeclaration()) set_target_attributes(function, machine, vector_bits);
    }
    if (show_llvm) log_line("LLVM IR of " + kernel.name + " before optimisation:\n" + ir_text(module));
    if (kernel.is_kernel) {
        optimize(module, machine, config().verify);
    } else if (options.quickly) {
        optimize_quickly(module, machine, config().verify);
    } else {
        optimize_function(module, machine, config().verify);
    }
    if (llvm::Function* copy = define_copy_lines(module)) set_target_attributes(*copy, machine, vector_bits);
    if (show_llvm) log_line("LLVM IR of " + kernel.name + " after optimisation:\n" + ir_text(module));
    if (texts != nullptr) {
        texts->llvm_ir = ir_text(module);
        texts->assembly = assembly_of(module, machine);
        texts->vectorization_remarks = std::move(remarks.text);
        for (LoopRemark& loop : remarks.loops)
            texts->loops.push_back({loop.site, std::move(loop.reason), loop.lanes, loop.side_by_side});
    }
    if (show_assembly) log_line("assembly of " + kernel.name + ":\n" + assembly_of(module, machine));
    std::string object = target.emitter->emit(module);
    if (!errors.empty()) throw InternalError("LLVM: " + errors);

    engine.context().setDiagnosticHandler(nullptr);

    KernelObject result;
    result.name = kernel.name;
    result.symbol = lowered.function->getName().str();
    result.grid_dimensions = lowered.grid_dimensions;
    result.bytes = std::move(object);
    result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++compiled_count;
    return result;
}

// What the host calls of a function that calls itself.
ir::Function call_of(const ir::Function& function) {
    ir::Builder builder(function.name);
    std::vector<ir::ValueId> arguments;
    for (const ir::ValueId parameter : function.parameters) {
        const ir::ValueInfo& info = function.values[parameter.index];
        arguments.push_back(builder.parameter(info.type, info.name));
    }
    builder.return_values(builder.call(function, arguments));
    return builder.finish_function(function.result_types);
}

void run_passes(const ir::Module& module, ir::Function& function, bool quickly) {
    if (quickly) {
        passes::run_quick_pipeline(module, function);
    } else {
        passes::run_pipeline(module, function);
    }
}

// The functions whose calls the passes left, passed through these themselves. Those that are called lazily
// are compiled for themselves.
std::vector<ir::Function> callees_of(const ir::Module& module, const ir::Function& kernel, bool quickly) {
    std::vector<ir::Function> found;
    std::set<std::string> open, known;
    const auto note = [&](const ir::Function& caller) {
        ir::for_each_call(caller.body, [&](const ir::Instruction& call) {
            if (!call.lazy && known.insert(call.callee).second) open.insert(call.callee);
        });
    };
    note(kernel);
    while (!open.empty()) {
        const ir::Function* callee = module.find(*open.begin());
        open.erase(open.begin());
        if (callee == nullptr) throw InternalError("a call of a function that is not there");
        found.push_back(*callee);
        run_passes(module, found.back(), quickly);
        note(found.back());
    }
    return found;
}

// What is called in both ways is compiled with the function anyway.
void call_what_is_there(ir::Function& kernel, std::vector<ir::Function>& callees) {
    std::set<std::string> names;
    for (const ir::Function& callee : callees) names.insert(callee.name);
    const std::function<void(ir::Region&)> walk = [&](ir::Region& region) {
        for (ir::Instruction& each : region.body) {
            each.lazy = each.lazy && !names.contains(each.callee);
            for (ir::Region& inner : each.regions) walk(inner);
        }
    };
    walk(kernel.body);
    for (ir::Function& callee : callees) walk(callee.body);
}

// The functions that are called lazily and programs share, with what they call.
std::vector<ir::Function> with_shared(const ir::Module& module, std::span<const ir::Function> callers) {
    ir::Function all;
    for (const ir::Function& caller : callers) {
        ir::for_each_call(caller.body, [&](const ir::Instruction& call) {
            if (call.lazy && module.find(call.callee) != nullptr) all.body.body.push_back(call);
        });
    }
    return ir::called_functions(module, all);
}

// Takes what is to be called lazily out of functions; gives its IR, with that of what it calls.
std::string take_parts(const ir::Module& module, ir::Function& kernel, std::vector<ir::Function>& callees,
                       std::vector<ir::Function>& parts) {
    std::string text;
    std::vector<ir::Function> whole;
    passes::outline_unlikely(kernel, parts);
    for (ir::Function& callee : callees) {
        whole.push_back(callee);
        passes::outline_unlikely(callee, parts);
    }
    if (parts.empty()) return text;
    std::vector<ir::Function> callers = parts;
    callers.insert(callers.end(), whole.begin(), whole.end());
    for (const std::vector<ir::Function>& all : {callers, with_shared(module, callers)}) {
        for (const ir::Function& each : all) text += ir::print(each) + "\n";
    }
    return text;
}

// Those that only parts call are compiled with these.
void leave_out_uncalled(const ir::Function& kernel, std::vector<ir::Function>& callees) {
    std::set<std::string> called;
    const auto note = [&](const ir::Function& caller) {
        const size_t before = called.size();
        ir::for_each_call(caller.body, [&](const ir::Instruction& call) {
            if (!call.lazy) called.insert(call.callee);
        });
        return called.size() != before;
    };
    for (bool grows = note(kernel); grows;) {
        grows = false;
        for (const ir::Function& callee : callees) {
            if (called.contains(callee.name)) grows |= note(callee);
        }
    }
    std::erase_if(callees, [&](const ir::Function& callee) { return !called.contains(callee.name); });
}

void verify(const ir::Module& whole, const ir::Function& kernel, std::span<const ir::Function> callees,
            std::span<const ir::Function> parts) {
    ir::Module module;
    module.functions.push_back(kernel);
    module.functions.insert(module.functions.end(), callees.begin(), callees.end());
    module.functions.insert(module.functions.end(), parts.begin(), parts.end());
    for (ir::Function& each : with_shared(whole, module.functions))
        module.functions.push_back(std::move(each));
    ir::check(module);
}

// On an engine of the pool, with the IR where weft is at fault.
KernelObject compile_on_engine(const Unit& unit, const CompileOptions& options, CompiledTexts* texts) {
    try {
        return engine_pool().run([&](Engine& engine) { return compile(engine, unit, options, texts); },
                                 [&](const KernelObject& object) {
                                     if (texts != nullptr) *texts = CompiledTexts(*texts);
                                     return KernelObject(object);
                                 });
    } catch (const InternalError& error) {
        throw InternalError(std::string(error.what()) + "\nkernel IR:\n" + ir::print(unit.kernel));
    }
}

void append(CompiledTexts& texts, const CompiledTexts& more) {
    texts.llvm_ir += "\n" + more.llvm_ir;
    texts.assembly += "\n" + more.assembly;
    texts.vectorization_remarks += more.vectorization_remarks;
    texts.loops.insert(texts.loops.end(), more.loops.begin(), more.loops.end());
}

// How the threads of blocks run that meet.
std::string note_of_threads(const ir::Module& module) {
    std::string note;
    for (const ir::Function& function : module.functions) {
        const std::optional<std::string> reason = passes::reason_for_fibers(module, function);
        if (!reason) continue;
        if (!is_on(OptimisationSwitch::kThreadFission))
            return "threads take turns: thread_fission is left out";
        if (!reason->empty()) return "threads take turns: " + *reason;
        note = "threads are loops, cut where they meet";
    }
    return note;
}

}  // namespace

namespace {

// A kernel, a function that the host calls, or one that compiled code calls lazily.
KernelObject compile_object(const ir::Module& module, const ir::Function& found, bool is_lazy,
                            const CompileOptions& options, CompiledTexts* texts) {
    const ForkExclusion exclusion;  // LLVM has locks of its own
    watch_end_of_process();
    const bool calls_itself = !found.is_kernel && ir::is_recursive(module, found);
    ir::Function kernel = calls_itself ? call_of(found) : found;
    if (is_lazy) kernel.name += ".shared";
    const bool quickly = options.quickly && !kernel.is_kernel;
    run_passes(module, kernel, quickly);
    std::vector<ir::Function> callees, parts;
    std::vector<SharedFunction> shared;
    std::string parts_text;
    if (!kernel.is_kernel) {
        callees = callees_of(module, kernel, quickly);
        call_what_is_there(kernel, callees);
        std::vector<ir::Function> callers{kernel};
        callers.insert(callers.end(), callees.begin(), callees.end());
        shared = shared_functions(module, callers);
        if (is_on(OptimisationSwitch::kLazyParts) && !quickly)
            parts_text = take_parts(module, kernel, callees, parts);
        if (config().verify) verify(module, kernel, callees, parts);
        leave_out_uncalled(kernel, callees);
    }
    if (texts != nullptr) {
        texts->threads = note_of_threads(module);
        texts->ir_after_passes = ir::print(kernel);
        for (const std::vector<ir::Function>* all : {&callees, &parts}) {
            for (const ir::Function& each : *all) texts->ir_after_passes += "\n" + ir::print(each);
        }
    }
    const Callees called{callees, parts, shared, quickly, options.noted_scopes};
    KernelObject object = compile_on_engine(
        {kernel, useful_vector_bits(found),
         [&](llvm::Module& into, BitcodeLibrary& library, bool appends_operations) {
             return is_lazy ? lower_part_for_cpu(kernel, called, into, library, appends_operations)
                            : lower_for_cpu(kernel, called, into, library, appends_operations);
         }},
        options, texts);
    object.parts = std::move(parts_text);
    for (SharedFunction& each : shared) object.shared.push_back(std::move(each.text));
    if (texts == nullptr) return object;
    for (size_t i = 0; i < parts.size(); ++i) {
        CompiledTexts of_part;
        compile_part_for_cpu(object.parts, static_cast<int>(i), options, &of_part);
        append(*texts, of_part);
    }
    for (const std::string& text : object.shared) {
        CompiledTexts of_shared;
        compile_shared_for_cpu(text, options, &of_shared);
        append(*texts, of_shared);
    }
    return object;
}

}  // namespace

KernelObject compile_object_for_cpu(const ir::Module& module, const std::string& kernel_name,
                                    const CompileOptions& options, CompiledTexts* texts) {
    const ir::Function* found = module.find(kernel_name);
    if (found == nullptr) throw InternalError("the module has no kernel " + kernel_name);
    return compile_object(module, *found, /*is_lazy=*/false, options, texts);
}

KernelObject compile_shared_for_cpu(const std::string& text, const CompileOptions& options,
                                    CompiledTexts* texts) {
    const ir::Module module = ir::parse(text);
    return compile_object(module, module.functions.front(), /*is_lazy=*/true, options, texts);
}

KernelObject compile_part_for_cpu(const std::string& parts, int number, const CompileOptions& options,
                                  CompiledTexts* texts) {
    const ForkExclusion exclusion;  // as above
    watch_end_of_process();
    const ir::Module module = ir::parse(parts);
    const ir::Function& part = module.functions[static_cast<size_t>(number)];
    const std::vector<ir::Function> callees = ir::called_functions(module, part, /*lazily=*/false);
    std::vector<ir::Function> callers{part};
    callers.insert(callers.end(), callees.begin(), callees.end());
    std::vector<SharedFunction> shared = shared_functions(module, callers);
    if (config().verify) ir::check(module);
    const Callees called{callees, {}, shared};
    KernelObject object =
        compile_on_engine({part, useful_vector_bits(part),
                           [&](llvm::Module& into, BitcodeLibrary& library, bool appends_operations) {
                               return lower_part_for_cpu(part, called, into, library, appends_operations);
                           }},
                          options, texts);
    for (SharedFunction& each : shared) object.shared.push_back(std::move(each.text));
    return object;
}

KernelObject compile_strided_loop_for_cpu(const ir::Module& contiguous, const ir::Module& strided,
                                          std::span<const int64_t> itemsizes, const CompileOptions& options) {
    const ForkExclusion exclusion;  // as above
    watch_end_of_process();
    ir::Function kernels[] = {contiguous.functions[0], strided.functions[0]};
    passes::run_pipeline(contiguous, kernels[0]);
    passes::run_pipeline(strided, kernels[1]);
    return compile_on_engine(
        {kernels[0], useful_vector_bits(kernels[0]),
         [&](llvm::Module& into, BitcodeLibrary& library, bool appends_operations) {
             LoweredKernel lowered[2];
             for (size_t k = 0; k < 2; ++k)
                 lowered[k] = lower_for_cpu(kernels[k], {}, into, library, appends_operations);
             lowered[0].function = lower_strided_loop(*lowered[0].function, *lowered[1].function, itemsizes);
             return lowered[0];
         }},
        options, nullptr);
}

StridedLoop load_strided_loop_for_cpu(const KernelObject& object) {
    const ForkExclusion exclusion;  // LLVM has locks of its own
    const auto* const loaded =
        new LoadedObject(llvm::MemoryBufferRef(object.bytes, object.name), object.symbol);
    return reinterpret_cast<StridedLoop>(loaded->function());
}

std::shared_ptr<const CompiledKernel> load_for_cpu(const KernelObject& object) {
    const ForkExclusion exclusion;  // LLVM has locks of its own
    auto result = std::make_shared<LoadedKernel>(
        LoadedObject(llvm::MemoryBufferRef(object.bytes, object.name), object.symbol));
    result->name = object.name;
    result->grid_dimensions = object.grid_dimensions;
    result->compile_seconds = object.compile_seconds;
    return result;
}

std::shared_ptr<const CompiledKernel> compile_for_cpu(const ir::Module& module,
                                                      const std::string& kernel_name,
                                                      const CompileOptions& options, CompiledTexts* texts) {
    return load_for_cpu(compile_object_for_cpu(module, kernel_name, options, texts));
}

std::shared_ptr<const CompiledFunction> load_function_for_cpu(const KernelObject& object, PartMaker make) {
    const ForkExclusion exclusion;  // LLVM has locks of its own
    auto result = std::make_shared<LoadedFunction>(
        LoadedObject(llvm::MemoryBufferRef(object.bytes, object.name), object.symbol,
                     object.has_lazy_calls() ? kLazyTable : ""),
        object.shared.size(), std::move(make));
    result->name = object.name;
    result->compile_seconds = object.compile_seconds;
    return result;
}

namespace {

// With all that it calls lazily for itself.
std::shared_ptr<const CompiledFunction> load_with_parts(const KernelObject& object,
                                                        const CompileOptions& options) {
    const auto make = [parts = object.parts, shared = object.shared, options](int number) {
        const auto of_all = static_cast<int>(shared.size());
        return load_with_parts(number < of_all
                                   ? compile_shared_for_cpu(shared[static_cast<size_t>(number)], options)
                                   : compile_part_for_cpu(parts, number - of_all, options),
                               options);
    };
    return load_function_for_cpu(object, make);
}

}  // namespace

std::shared_ptr<const CompiledFunction> compile_function_for_cpu(const ir::Module& module,
                                                                 const std::string& function_name,
                                                                 const CompileOptions& options,
                                                                 CompiledTexts* texts) {
    const KernelObject object = compile_object_for_cpu(module, function_name, options, texts);
    CompileOptions of_parts = options;
    of_parts.keep_texts = false;
    return load_with_parts(object, of_parts);
}

double seconds_of_lazy_parts(const CompiledFunction& function) {
    const auto* const loaded = dynamic_cast<const LoadedFunction*>(&function);
    return loaded == nullptr ? 0 : loaded->seconds_of_parts();
}

int64_t kernels_compiled() { return compiled_count; }

}  // namespace weft::codegen
