#include "jit/specialisation.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "codegen/cpu/compiler.h"
#include "codegen/service/function_in_two_steps.h"
#include "codegen/service/kernel_cache.h"
#include "codegen/service/shared_code.h"
#include "ir/printer.h"
#include "jit/gpu_kernel.h"
#include "lang/errors/diagnostics.h"
#include "weft/errors.h"

namespace weft::jit {

namespace {

bool has(const ir::Region& region, ir::Opcode opcode) {
    return std::any_of(region.body.begin(), region.body.end(), [&](const ir::Instruction& instruction) {
        return instruction.opcode == opcode ||
               std::any_of(instruction.regions.begin(), instruction.regions.end(),
                           [&](const ir::Region& inner) { return has(inner, opcode); });
    });
}

// The function itself, then what it calls.
std::string text_of(const lang::Lowered& lowered) {
    std::string text = ir::print(*lowered.module.find(lowered.entry));
    for (const ir::Function& each : lowered.module.functions) {
        if (each.name != lowered.entry) text += ir::print(each);
    }
    return text;
}

// What LLVM's vectoriser says of loops, for people. Only innermost loops are asked.
std::string reason_of(const std::string& name) {
    constexpr std::pair<const char*, const char*> kReasons[] = {
        {"CantReorderFPOps", "its sums of floats keep their order, unless fastmath=True"},
        {"NonReductionValueUsedOutsideLoop", "an iteration needs what the one before it came to"},
        {"CFGNotUnderstood", "it may be left early, or how often it runs is not known beforehand"},
        {"NoCFGForSelect", "its branches do more than to choose between values"},
        {"UnsupportedUncountableLoop", "it may be left early, or how often it runs is not known beforehand"},
        {"CantComputeNumberOfIterations",
         "it may be left early, or how often it runs is not known beforehand"},
        {"CantVectorizeCall", "it calls a function that has no form for vectors"},
        {"CantVectorizeLibcall", "it calls a function that has no form for vectors"},
        {"UnsafeDep", "an iteration may read or write what another one writes"},
        {"CantVersionLoopWithOptForSize", "it runs a few times only"},
        {"LowTripCount", "it runs a few times only"},
        {"VectorizationNotBeneficial", "vectors would be no faster"},
    };
    for (const auto& [of, text] : kReasons) {
        if (name == of) return text;
    }
    return {};
}

// Of each loop of the program the best that became of its copies.
std::vector<std::pair<lang::LoopNote, std::string>> told_of_loops(
    std::span<const lang::LoopNote> notes, std::span<const codegen::LoopOutcome> outcomes) {
    struct Told {
        lang::LoopNote note;
        int64_t lanes = 0, side_by_side = 0;
        std::string reason;
    };
    std::map<std::pair<const lang::FunctionSource*, lang::NodeId>, Told> loops;
    for (const codegen::LoopOutcome& outcome : outcomes) {
        if (outcome.site == 0 || outcome.site > notes.size()) continue;
        const lang::LoopNote& note = notes[outcome.site - 1];
        Told& told = loops[{note.function, note.node}];
        told.note = note;
        if (outcome.lanes > told.lanes)
            std::tie(told.lanes, told.side_by_side) = std::pair(outcome.lanes, outcome.side_by_side);
        if (!outcome.reason.empty() && told.reason.empty()) told.reason = reason_of(outcome.reason);
    }
    std::vector<std::pair<lang::LoopNote, std::string>> result;
    for (const auto& [place, told] : loops) {
        std::string text = "no vectors: " + told.reason;
        if (told.lanes > 1) {
            text = "vectors of " + std::to_string(told.lanes) + " iterations";
            if (told.side_by_side > 1) text += ", " + std::to_string(told.side_by_side) + " side by side";
        } else if (told.reason.empty()) {
            continue;
        }
        result.emplace_back(told.note, std::move(text));
    }
    return result;
}

// Lists of the program are copied before a call, and back after it.
bool writes_into_lists(const lang::Lowered& lowered) {
    for (size_t i = 0; i < lowered.arguments.size(); ++i) {
        if (lowered.written[i] && lowered.arguments[i]->kind != lang::TypeKind::kArray) return true;
    }
    return false;
}

// What the thread collects in place of compiling.
struct Collection {
    std::set<std::string> texts{};
};
thread_local Collection* collection_of_thread = nullptr;

}  // namespace

void begin_collection() {
    end_collection();
    collection_of_thread = new Collection;
}

std::set<std::string> end_collection() {
    const std::unique_ptr<Collection> collection(std::exchange(collection_of_thread, nullptr));
    return collection == nullptr ? std::set<std::string>() : std::move(collection->texts);
}

std::string pack_of_shared(const std::set<std::string>& texts, bool of_host) {
    return codegen::pack_shared(texts, of_host);
}

std::shared_ptr<const Specialisation> compile(const lang::FunctionSource& function,
                                              std::span<const lang::TypeRef> arguments,
                                              const Options& options,
                                              std::span<const lang::GlobalArgument> globals) {
    const auto begin = std::chrono::steady_clock::now();
    lang::Options semantics = options.semantics;
    semantics.shares = !semantics.is_kernel;
    lang::Lowered lowered = lang::lower(function, arguments, semantics, globals);
    auto result = std::make_shared<Specialisation>();
    result->ir = text_of(lowered);
    const std::string entry = lowered.entry;
    if (Collection* const collection = collection_of_thread) {
        codegen::collect_shared(lowered.module, collection->texts);
        throw lang::CompileError("the function was only looked at");
    }
    if (options.semantics.for_gpu) {
        WEFT_CHECK(options.device != nullptr, "a kernel for a GPU is for one");
        lang::Options on_cpu = options.semantics;
        on_cpu.for_gpu = on_cpu.tells_lines = false;
        lang::Lowered whole = lang::lower(function, arguments, on_cpu, globals);
        number_errors_as(lowered.sites, whole);
        result->gpu = compile_for_gpu(lowered, result->ir, text_of(whole), options);
        result->from_disk = result->gpu->from_disk;
    } else {
        const codegen::CompileOptions compile_with;
        // The IR is the whole of what the machine code depends on: all callees, constants, types and options.
        const std::string key =
            options.is_kept && codegen::keeps_kernels()
                ? codegen::cache_key("function " + entry + "\n" + result->ir, compile_with)
                : std::string();
        if (!key.empty()) result->code_ = codegen::find_function_in_cache(key, compile_with);
        result->from_disk = result->code_ != nullptr;
        if (!result->from_disk) {
            codegen::settle_lazy_calls(lowered.module, compile_with);
            if (options.in_two_steps && !writes_into_lists(lowered) &&
                codegen::may_run_in_two_steps(lowered.module, entry, compile_with)) {
                result->in_two_steps_ = codegen::make_in_two_steps(key, lowered.module, entry, compile_with);
            } else {
                const codegen::KernelObject object =
                    codegen::compile_object_for_cpu(lowered.module, entry, compile_with);
                result->code_ = codegen::load_function(key, object, compile_with);
                if (!key.empty()) codegen::keep_in_cache(key, object, {});
            }
        }
        if (result->code_ != nullptr) result->function_ = result->code_->function;
    }
    result->take(std::move(lowered));
    result->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

void Specialisation::take(lang::Lowered&& lowered) {
    name = lowered.entry;
    arguments = std::move(lowered.arguments);
    result = lowered.result;
    size_t values = lang::part_count(lowered.result);
    for (const lang::Site& site : lowered.sites) values = std::max(values, static_cast<size_t>(site.payload));
    result_bytes = 16 * values;
    for (const ir::Function& each : lowered.module.functions) {
        allocates |= has(each.body, ir::Opcode::kHeap) || has(each.body, ir::Opcode::kSpread);
        tells |= has(each.body, ir::Opcode::kTell);
    }
    meets_grid = lang::meets_grid(lowered.module);
    block_bytes = lowered.block_bytes;
    thread_bytes = lowered.thread_bytes;
    sites = std::move(lowered.sites);
    indices_ = std::move(lowered.indices);
    parallel_ = std::move(lowered.parallel);
    loops_ = std::move(lowered.loops);
    written = std::move(lowered.written);
    module_ = std::move(lowered.module);
}

KernelText kernel_text(const lang::FunctionSource& function, std::span<const lang::TypeRef> arguments,
                       const Options& options, std::span<const lang::GlobalArgument> globals) {
    const lang::Lowered lowered = lang::lower(function, arguments, options.semantics, globals);
    KernelText text;
    text.ir = text_of(lowered);
    text.result = lang::describe(lowered.result);
    const auto is_number = [](lang::TypeRef type) { return type->kind == lang::TypeKind::kScalar; };
    text.gives_numbers = is_number(lowered.result) ||
                         (lowered.result->kind == lang::TypeKind::kTuple && !lowered.result->parts.empty() &&
                          std::ranges::all_of(lowered.result->parts, is_number));
    for (const lang::Site& site : lowered.sites) text.exceptions.push_back(site.exception);
    return text;
}

std::string Specialisation::explain() const {
    struct Counts {
        int kinds[3] = {0, 0, 0};
        bool parallel = false;
        int inside = 0;  // the line of the loop inside of which chunks are cut, too
        std::set<std::string> copied;
        std::string vectors;
    };
    std::map<std::tuple<std::string, int, std::string>, Counts> lines;
    const auto counts_of = [&](const lang::FunctionSource& function, lang::NodeId node) -> Counts& {
        const int line = function.tree.place(node).line;
        const auto at = static_cast<size_t>(line - function.first_line);
        const std::string& text = at < function.lines.size() ? function.lines[at] : std::string();
        return lines[{function.file, line, text}];
    };
    for (const lang::IndexNote& note : indices_)
        ++counts_of(*note.function, note.node).kinds[static_cast<size_t>(note.kind)];
    for (const lang::ParallelNote& note : parallel_) {
        Counts& counts = counts_of(*note.function, note.node);
        counts.parallel = true;
        if (note.inside != 0) counts.inside = note.function->tree.place(note.inside).line;
        counts.copied.insert(note.copied.begin(), note.copied.end());
    }
    const codegen::CompiledTexts again = compile_again();
    for (const auto& [note, text] : told_of_loops(loops_, again.loops))
        counts_of(*note.function, note.node).vectors = text;
    std::string result = from_disk ? "  compiled by an earlier process\n" : "  compiled here\n";
    if (in_two_steps_ != nullptr && in_two_steps_->is_quick())
        result += "  runs by quick code while it is compiled\n";
    if (gpu != nullptr) result += describe(*gpu);
    if (!again.threads.empty()) result += "  " + again.threads + "\n";
    const CompiledFunction* const code = current_code();
    if (const LazyPartCounts parts = code == nullptr ? LazyPartCounts{} : code->lazy_parts();
        parts.all != 0) {
        result += "  " + std::to_string(parts.compiled) + " of " + std::to_string(parts.all) +
                  " loops for failing tests compiled, the others when they are reached\n";
    }
    constexpr const char* kTexts[] = {" proven to be in bounds", " tested before the loop",
                                      " checked in place"};
    for (const auto& [place, counts] : lines) {
        const auto& [file, line, text] = place;
        result += "  line " + std::to_string(line) + ":" + text + "\n";
        if (counts.parallel) result += "    chunks of the iterations run at the same time";
        if (counts.inside != 0) result += ", with parts of the loop in line " + std::to_string(counts.inside);
        if (counts.parallel) result += "\n";
        if (!counts.vectors.empty()) result += "    " + counts.vectors + "\n";
        for (const std::string& name : counts.copied)
            result += "    each chunk updates a copy of " + name + "\n";
        if (counts.kinds[0] + counts.kinds[1] + counts.kinds[2] == 0) continue;
        result += "    indices:";
        const char* separator = " ";
        for (size_t kind = 0; kind < 3; ++kind) {
            if (counts.kinds[kind] == 0) continue;
            result += separator + std::to_string(counts.kinds[kind]) + kTexts[kind];
            separator = ", ";
        }
        result += "\n";
    }
    return result;
}

codegen::CompiledTexts Specialisation::compile_again() const {
    codegen::CompiledTexts texts;
    if (gpu != nullptr) return texts_of(*gpu, module_, name);
    codegen::CompileOptions options;
    options.keep_texts = true;
    ir::Module module = module_;
    codegen::settle_lazy_calls(module,
                               {});  // as it is where the function was compiled, and not found on disk
    codegen::compile_function_for_cpu(module, name, options, &texts);
    return texts;
}

Specialisation::Texts Specialisation::texts() const {
    codegen::CompiledTexts texts = compile_again();
    return {std::move(texts.ir_after_passes), std::move(texts.llvm_ir), std::move(texts.assembly)};
}

}  // namespace weft::jit
