#include "passes/pipeline.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

#include "core/config.h"
#include "core/log.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "passes/barrier_fission.h"
#include "passes/calls/borrowed_memory.h"
#include "passes/calls/inline_calls.h"
#include "passes/calls/inline_recursion.h"
#include "passes/calls/local_memory.h"
#include "passes/calls/structured_returns.h"
#include "passes/checks_ahead.h"
#include "passes/integers/narrow_integers.h"
#include "passes/integers/wrapped_indices.h"
#include "passes/lanes_of_loops.h"
#include "passes/loop_interchange.h"
#include "passes/loops_ahead.h"
#include "passes/lower_reductions.h"
#include "passes/predictive_commoning.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"
#include "passes/threads/thread_checks.h"
#include "passes/threads/thread_fission.h"
#include "passes/threads/thread_memory.h"
#include "passes/threads/thread_strides.h"
#include "passes/unroll_and_jam.h"

namespace weft::passes {

namespace {

constexpr Pass kPasses[] = {
    {"inline_calls", inline_calls},
    {"inline_recursion", inline_recursion, OptimisationSwitch::kInlineRecursion},
    {"structured_returns", structured_returns, OptimisationSwitch::kStructuredReturns},
    {"borrowed_memory", borrowed_memory, OptimisationSwitch::kBorrowedMemory},
    {"thread_fission", thread_fission, OptimisationSwitch::kThreadFission},
    {"simplify", simplify, OptimisationSwitch::kSimplify},
    {"local_memory", local_memory, OptimisationSwitch::kLocalMemory},
    {"thread_checks", thread_checks, OptimisationSwitch::kThreadFission},
    {"thread_strides", thread_strides, OptimisationSwitch::kThreadStrides},
    {"narrow_integers", narrow_integers, OptimisationSwitch::kNarrowIntegers},
    {"loop_interchange", loop_interchange, OptimisationSwitch::kLoopInterchange},
    {"unroll_and_jam", unroll_and_jam, OptimisationSwitch::kUnrollAndJam},
    {"loops_ahead", loops_ahead, OptimisationSwitch::kLoopsAhead},
    {"checks_ahead", checks_ahead, OptimisationSwitch::kChecksAhead},
    {"lanes_of_loops", lanes_of_loops, OptimisationSwitch::kLanesOfLoops},
    {"wrapped_indices", wrapped_indices, OptimisationSwitch::kWrappedIndices},
    {"predictive_commoning", predictive_commoning, OptimisationSwitch::kPredictiveCommoning},
    {"barrier_fission", barrier_fission},
    {"lower_reductions", lower_reductions},
    {"simplify_lowered", simplify, OptimisationSwitch::kSimplifyLowered},
};

constexpr Pass kQuickPasses[] = {
    {"inline_calls", inline_calls},
    {"simplify", simplify, OptimisationSwitch::kSimplify},
    {"lower_reductions", lower_reductions},
};

// Columns stay with the threads that compute them, which read neighbours side by side.
constexpr Pass kGpuPasses[] = {
    {"inline_calls", inline_calls},
    {"simplify", simplify, OptimisationSwitch::kSimplify},
    {"narrow_integers", narrow_integers, OptimisationSwitch::kNarrowIntegers},
    {"lower_reductions_of_threads", lower_reductions_of_threads},
    {"simplify_lowered", simplify, OptimisationSwitch::kSimplifyLowered},
};

// A thread's own loops stay as they are: threads take the place of vectors, and registers are few.
constexpr Pass kLaunchPasses[] = {
    {"inline_calls", inline_calls},
    {"structured_returns", structured_returns, OptimisationSwitch::kStructuredReturns},
    {"simplify", simplify, OptimisationSwitch::kSimplify},
    {"thread_memory", thread_memory},
    {"narrow_integers", narrow_integers, OptimisationSwitch::kNarrowIntegers},
    {"wrapped_indices", wrapped_indices, OptimisationSwitch::kWrappedIndices},
    {"lower_reductions", lower_reductions},
    {"simplify_lowered", simplify, OptimisationSwitch::kSimplifyLowered},
};

bool verifies() {
#ifdef WEFT_VERIFY
    return true;
#else
    return config().verify.load(std::memory_order_relaxed);
#endif
}

void finish_step(std::string_view pass, double seconds, const ir::Module& module, const ir::Function& kernel,
                 const PassObserver& observer) {
    if (debug_enabled(DebugLevel::kIr, kernel.name)) {
        log_line("IR of @" + kernel.name + " after " + std::string(pass) + ", " +
                 std::to_string(static_cast<int64_t>(seconds * 1e6)) + " us\n" + ir::print(kernel));
    }
    if (verifies()) ir::check(kernel, &module);
    if (observer) observer(pass, seconds, kernel);
}

// Passes that give the iterations of a function's loops another order.
bool reorders_iterations(const Pass& pass) {
    constexpr OptimisationSwitch kReordering[] = {
        OptimisationSwitch::kLoopsAhead, OptimisationSwitch::kChecksAhead, OptimisationSwitch::kLanesOfLoops,
        OptimisationSwitch::kPredictiveCommoning};
    return pass.optional && std::ranges::find(kReordering, *pass.optional) != std::end(kReordering);
}

void run(std::span<const Pass> passes, const ir::Module& module, ir::Function& kernel,
         const PassObserver& observer) {
    finish_step("input", 0, module, kernel, observer);
    for (const Pass& pass : passes) {
        if (pass.optional && !is_on(*pass.optional)) continue;
        if (!kernel.is_kernel && reorders_iterations(pass) && has_meeting(kernel.body)) continue;
        auto start = std::chrono::steady_clock::now();
        pass.run(module, kernel);
        std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        finish_step(pass.name, elapsed.count(), module, kernel, observer);
    }
}

}  // namespace

std::span<const Pass> pipeline() { return kPasses; }
std::span<const Pass> gpu_pipeline() { return kGpuPasses; }

void run_pipeline(const ir::Module& module, ir::Function& kernel, const PassObserver& observer) {
    run(kPasses, module, kernel, observer);
}

void run_quick_pipeline(const ir::Module& module, ir::Function& function) {
    run(kQuickPasses, module, function, {});
}

void run_gpu_pipeline(const ir::Module& module, ir::Function& kernel, const PassObserver& observer) {
    run(kGpuPasses, module, kernel, observer);
}

void run_launch_pipeline(const ir::Module& module, ir::Function& function, const PassObserver& observer) {
    run(kLaunchPasses, module, function, observer);
}

void run_pipeline(ir::Module& module, const PassObserver& observer) {
    for (ir::Function& function : module.functions) {
        if (function.is_kernel) run_pipeline(module, function, observer);
    }
    std::erase_if(module.functions, [](const ir::Function& function) { return !function.is_kernel; });
}

}  // namespace weft::passes
