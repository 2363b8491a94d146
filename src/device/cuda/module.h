// From PTX to a kernel that a GPU can launch: assembled by the driver (its messages are in the error), and
// loaded into one device's context.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/cuda/context.h"

namespace weft::cuda {

// The machine code (a cubin) of the PTX for the device. Throws DeviceError with the assembler's messages.
std::string assemble(Context& context, const std::string& ptx);

// A module in a context and one function of it; unloaded with the last reference, when its work is done.
class LoadedFunction {
public:
    // `image` is a cubin. Throws DeviceError when the driver refuses it.
    LoadedFunction(Context& context, std::string_view image, const std::string& symbol);
    ~LoadedFunction();
    LoadedFunction(const LoadedFunction&) = delete;
    LoadedFunction& operator=(const LoadedFunction&) = delete;

    FunctionHandle handle() const { return function_; }
    int registers() const { return attribute(kFunctionRegisters); }       // of a thread
    int local_bytes() const { return attribute(kFunctionLocalBytes); }    // of a thread: spilled registers
    int most_threads() const { return attribute(kFunctionMostThreads); }  // of a block
    void allow_shared(size_t bytes);                                      // dynamic shared memory

private:
    int attribute(int which) const;

    Context& context_;
    ModuleHandle module_ = nullptr;
    FunctionHandle function_ = nullptr;
};

}  // namespace weft::cuda
