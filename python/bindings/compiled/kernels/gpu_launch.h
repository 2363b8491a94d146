// Launches of CUDA-style kernels on GPUs: the code for the types of a launch's arguments is found or
// compiled, and queued.
#pragma once

#include <span>

#include "jit/gpu_kernel.h"
#include "lang/types.h"
#include "module.h"

namespace weft::python {

struct JitObject;

/// What is the same for all calls of a launch; found at the first.
struct LaunchPlan {
    bool is_known = false;
    jit::LaunchSizes sizes{};
    lang::TypeRef block = nullptr;  // its sizes as constants, or null
};

/// Queues a kernel on the GPU that its arrays are on, or on the current device. `launcher` is a compiled
/// function of (sizes of the grid, of a block, bytes, the kernel's arguments...). Gives None, or, where
/// nothing is done since GPUs have not what it needs, the reason.
nb::object launch_on_gpu(JitObject* launcher, std::span<PyObject* const> given, LaunchPlan& plan);

/// Compiles as a launch with such arguments does, for blocks of any size, and gives what that gives. Throws
/// RuntimeError where they are on no GPU.
nb::object compile_on_gpu(JitObject* launcher, std::span<PyObject* const> given);

/// Waits for the devices whose kernels print, which then have written it.
void finish_printing();

}  // namespace weft::python
