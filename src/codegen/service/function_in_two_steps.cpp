#include "codegen/service/function_in_two_steps.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "codegen/runtime/heap.h"
#include "codegen/runtime/spread.h"
#include "codegen/runtime/stopping/pause.h"
#include "codegen/runtime/stopping/write_log.h"
#include "codegen/service/background_compiler.h"
#include "codegen/service/kernel_cache.h"
#include "core/config.h"
#include "core/log.h"
#include "core/optimisation_switches.h"
#include "core/threads/thread_pool.h"
#include "ir/calls.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

// What the good code is made of, as it was when the function was asked for.
struct Request {
    std::string key;
    ir::Module module;
    std::string entry;
    CompileOptions options;
    std::shared_ptr<const FunctionInTwoSteps> function;
    uint64_t left_out = switches_left_out();
    bool is_verified = config().verify.load(std::memory_order_relaxed);
    int attempts = 0;

    // The key has settings that decide what is compiled, which may be others by now.
    bool is_of_key() const {
        return !key.empty() && left_out == switches_left_out() &&
               is_verified == config().verify.load(std::memory_order_relaxed);
    }

    void compile() const {
        if (config().tier_delay.load(std::memory_order_relaxed) < 0)
            throw InternalError("WEFT_TIER_DELAY is -1");
        const bool is_kept = is_of_key();
        const KernelObject object = compile_object_for_cpu(module, entry, options);
        try {
            if (is_kept && is_of_key()) keep_in_cache(key, object, {});
        } catch (const std::bad_alloc&) {  // the next process compiles it again
        }
        function->go_on_with(load_function(is_kept ? key : std::string(), object, options));
        if (debug_enabled(DebugLevel::kLaunches, entry))
            log_line(entry + " compiled in " + std::to_string(object.compile_seconds * 1e3) +
                     " ms while it ran by quick code");
    }
};

// Where memory is short it is tried again after what else waits. The quick code goes on meanwhile, or for
// good. Any other fault is told once.
void compile_later(std::shared_ptr<Request> request) {
    constexpr int kMostAttempts = 3;
    const bool is_first = request->attempts == 0;
    const auto work = [request = std::move(request)] {
        const auto out_of_memory = [&](const char* why) {
            if (++request->attempts < kMostAttempts) return compile_later(request);
            if (debug_enabled(DebugLevel::kLaunches, request->entry))
                log_line(request->entry + " goes on by quick code: " + why);
        };
        try {
            request->compile();
        } catch (const OutOfMemoryError& error) {
            out_of_memory(error.what());
        } catch (const std::bad_alloc& error) {
            out_of_memory(error.what());
        } catch (const std::exception& error) {
            log_line("internal error: " + request->entry +
                     " could not be compiled and goes on by quick code: " + error.what());
        }
    };
    // What was called last is what runs now.
    compile_in_background(work, is_first ? Turn::kNext : Turn::kLast);
}

// What it does is memory alone, and the same whenever it is done.
bool may_be_done_again(const ir::Region& region) {
    return std::ranges::all_of(region.body, [](const ir::Instruction& each) {
        switch (each.opcode) {
            case ir::Opcode::kConstant:
            case ir::Opcode::kCast:
            case ir::Opcode::kLoad:
            case ir::Opcode::kStore:
            case ir::Opcode::kAllocate:
            case ir::Opcode::kView:
            case ir::Opcode::kNull:
            case ir::Opcode::kHeap:
            case ir::Opcode::kRetain:
            case ir::Opcode::kRelease:
            case ir::Opcode::kFor:
            case ir::Opcode::kWhile:
            case ir::Opcode::kIf:
            case ir::Opcode::kReduce:
            case ir::Opcode::kScan:
            case ir::Opcode::kCheck:
            case ir::Opcode::kCall:
            case ir::Opcode::kYield:
            case ir::Opcode::kBreak:
            case ir::Opcode::kContinue:
            case ir::Opcode::kReturn:
            case ir::Opcode::kRaise: break;
            case ir::Opcode::kApply:
                if (each.fast) return false;  // whose bits hang on how it is compiled
                break;
            default: return false;
        }
        return std::ranges::all_of(each.regions, may_be_done_again);
    });
}

// What a function does to memory, by its alias scopes.
struct Accesses {
    std::set<uint16_t> read{}, written{}, passed{}, made{};

    void add(const ir::Function& function, const ir::Region& region) {
        const auto note = [&](std::set<uint16_t>& scopes, ir::ValueId value) {
            const ir::Type& type = function.type(value);
            if (type.is_buffer) scopes.insert(type.buffer.alias_scope);
        };
        for (const ir::Instruction& each : region.body) {
            switch (each.opcode) {
                case ir::Opcode::kLoad: note(read, each.operands[0]); break;
                case ir::Opcode::kStore: note(written, each.operands[0]); break;
                case ir::Opcode::kCall:
                    for (const ir::ValueId operand : each.operands) note(passed, operand);
                    break;
                case ir::Opcode::kHeap:
                case ir::Opcode::kAllocate:
                    for (const ir::ValueId result : each.results) note(made, result);
                    break;
                default: break;
            }
            for (const ir::Region& inner : each.regions) add(function, inner);
        }
    }
};

// The scopes of parameters whose writes have to be undone before the function is called again: those that are
// read, too. Nothing where that cannot be.
std::optional<std::vector<uint16_t>> scopes_to_undo(const ir::Function& function) {
    Accesses accesses;
    accesses.add(function, function.body);
    std::vector<uint16_t> found;
    for (const ir::ValueId parameter : function.parameters) {
        const ir::Type& type = function.type(parameter);
        if (!type.is_buffer) continue;
        const uint16_t scope = type.buffer.alias_scope;
        // What a callee writes is not noted.
        if (accesses.passed.contains(scope) && !type.buffer.readonly) return std::nullopt;
        if (!accesses.written.contains(scope) || !accesses.read.contains(scope)) continue;
        if (accesses.made.contains(scope)) return std::nullopt;  // it may be gone when its writes are undone
        if (std::ranges::find(found, scope) == found.end()) found.push_back(scope);
    }
    return found;
}

}  // namespace

int64_t FunctionInTwoSteps::begin_quickly(const ArgumentWord* words, char* results) const {
    WriteLog log;
    int64_t status = 0;
    {
        const StopScope scope(is_there_, StopScope::current(), /*soon=*/true);
        status = quick_->function(words, results);
    }
    log.close();
    if (status != kStopped) return status;
    if (std::exception_ptr reason = HeapFrame::take_stopped()) {  // the host's
        HeapFrame::stop(std::move(reason));
        return status;
    }
    if (log.is_full()) finish_compilations();
    const bool is_there = is_there_.load(std::memory_order_acquire);
    if (!is_there && !log.is_full()) return status;  // a scope around stops
    log.undo();
    const CpuFunction code = is_there ? good_.load(std::memory_order_acquire) : quick_->function;
    return code(words, results);
}

void FunctionInTwoSteps::go_on_with(std::shared_ptr<const CompiledFunction> good) const {
    good_code_ = std::move(good);
    good_.store(good_code_->function, std::memory_order_release);
    is_there_.store(true, std::memory_order_release);
}

const CompiledFunction& FunctionInTwoSteps::code() const {
    return is_there_.load(std::memory_order_acquire) ? *good_code_ : *quick_;
}

bool may_run_in_two_steps(const ir::Module& module, const std::string& entry, const CompileOptions& options) {
    if (config().tier.load(std::memory_order_relaxed) != Tier::kAuto || options.fast_math ||
        available_cpus() < 2 || debug_enabled(DebugLevel::kIr, entry))
        return false;
    const ir::Function* const found = module.find(entry);
    return found != nullptr && scopes_to_undo(*found) &&
           std::ranges::all_of(module.functions, [&](const ir::Function& each) {
               // Frames of quick code are large: it would come to the end of the stack before good code does.
               return !each.is_kernel && may_be_done_again(each.body) && !ir::is_recursive(module, each);
           });
}

std::shared_ptr<const FunctionInTwoSteps> make_in_two_steps(const std::string& key, ir::Module module,
                                                            const std::string& entry,
                                                            const CompileOptions& options) {
    CompileOptions well = options;
    if (well.cpu.empty()) well.cpu = config().cpu();
    if (well.cpu.empty()) well.cpu = "host";
    CompileOptions quickly = well;
    quickly.quickly = true;
    quickly.noted_scopes = scopes_to_undo(*module.find(entry)).value();
    // What it calls lazily is the good code's, too.
    const auto function = std::make_shared<const FunctionInTwoSteps>(
        load_function(key, compile_object_for_cpu(module, entry, quickly), well));
    compile_later(std::make_shared<Request>(Request{key, std::move(module), entry, well, function}));
    return function;
}

}  // namespace weft::codegen
