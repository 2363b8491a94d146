// The CUDA driver, opened at first need and never at import: one table of its functions
// (driver_symbols.def).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/cuda/driver_types.h"

namespace weft::cuda {

// Faults after which CUDA refuses every further call on the context.
bool ruins_context(Result result);

struct Driver {
#define WEFT_CUDA_SYMBOL(name, symbol, parameters) Result(*name) parameters = nullptr;
#include "device/cuda/driver_symbols.def"
#undef WEFT_CUDA_SYMBOL
    std::string path;  // of the file that was opened
    int version = 0;   // of the CUDA that the driver offers: 1000 * major + 10 * minor
    int devices = 0;

    // "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered"
    std::string describe(Result result) const;
    // Throws DeviceError, or OutOfMemoryError, that says what failed and what can be done.
    void check(Result result, const std::string& what) const {
        if (result != kSuccess) [[unlikely]]
            refuse(result, what);
    }
    [[noreturn]] void refuse(Result result, const std::string& what, const std::string& log = "") const;
};

std::string version_text(int version);  // "13.0"

// Opens the library at `path` and initialises it. Without a usable driver, null and the reason.
std::unique_ptr<Driver> open_driver(const std::string& path, std::string& reason);

// What this process has: WEFT_CUDA_DRIVER, else libcuda.so.1 as the system finds it, which is opened once.
// Null when there is none, or when it could not be initialised; that is tried again at the next call.
const Driver* find_driver();
std::string why_no_driver();  // and what to do
const Driver& driver();       // throws DeviceError with that reason

// After fork() the child's copies of contexts are of no use, and the driver cannot be initialised again.
bool lost_by_fork();
void check_fork();  // throws DeviceError

}  // namespace weft::cuda
