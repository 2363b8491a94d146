// What launches of kernels (kernel_launch.cpp) need of the compiled functions that run them.
#pragma once

#include <span>

#include "jit/gpu_kernel.h"
#include "lang/errors/diagnostics.h"
#include "lang/types.h"
#include "module.h"

namespace weft::python {

/// What is the same for all calls of a launch; found at the first.
struct LaunchPlan {
    bool is_known = false;
    jit::LaunchSizes sizes{};
    lang::TypeRef block = nullptr;  // its sizes as constants, or null
};

/// Queues a kernel on the GPU that its arrays are on, or on the current device. `launcher` is a compiled
/// function of (sizes of the grid, of a block, bytes, the kernel's arguments...). Gives None, or, where
/// nothing is done since GPUs have not what it needs, the reason.
nb::object launch_on_gpu(nb::handle launcher, std::span<PyObject* const> given, LaunchPlan& plan);

void set_error_of_compilation(const lang::CompileError& error);

}  // namespace weft::python
