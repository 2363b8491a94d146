// The passes over kernel IR, in order: the way from what a frontend built to what codegen takes.
//
// After the pipeline a kernel has no reductions or scans, and no calls but of functions that call themselves;
// a function may also have those of large ones (passes/calls/inline_calls.h). Under WEFT_VERIFY it is
// verified before the first pass and after each; WEFT_DEBUG=3 prints it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/optimisation_switches.h"
#include "ir/ir.h"

namespace weft::passes {

struct Pass {
    std::string_view name;
    void (*run)(const ir::Module& module, ir::Function& function);
    std::optional<OptimisationSwitch> optional = std::nullopt;  // may be left out under this name
};

std::span<const Pass> pipeline();
std::span<const Pass> gpu_pipeline();

// Called after each pass. "input" comes first, before any pass ran.
using PassObserver = std::function<void(std::string_view pass, double seconds, const ir::Function& function)>;

void run_pipeline(const ir::Module& module, ir::Function& kernel, const PassObserver& observer = {});
// The least of it, for code that is to be made quickly.
void run_quick_pipeline(const ir::Module& module, ir::Function& function);

void run_gpu_pipeline(const ir::Module& module, ir::Function& kernel, const PassObserver& observer = {});
// For functions that threads of a GPU run.
void run_launch_pipeline(const ir::Module& module, ir::Function& function, const PassObserver& observer = {});

// Over every kernel of the module; the functions that they called are dropped.
void run_pipeline(ir::Module& module, const PassObserver& observer = {});

}  // namespace weft::passes
