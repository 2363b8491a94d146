// From PTX to a kernel that a GPU can launch: assembled by the driver (its messages are in the error), and
// loaded into one device's context. Modules of CUDA C++ have many functions, and variables.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/context.h"

namespace weft::cuda {

// The machine code (a cubin) of the PTX for the device, with the lines that the PTX names if `with_lines`.
// Throws DeviceError with the assembler's messages.
std::string assemble(Context& context, const std::string& ptx, bool with_lines = false);

// A module in a context; unloaded with the last reference, when its work is done.
class LoadedModule {
public:
    // `image` is a cubin, a fatbin or PTX. Throws DeviceError when the driver refuses it.
    LoadedModule(Context& context, std::string_view image);
    ~LoadedModule();
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    Context& context() const { return context_; }
    FunctionHandle find_function(const std::string& symbol) const;  // null where there is none
    struct Global {
        DeviceAddress address = 0;  // 0: there is none
        size_t bytes = 0;
    };
    Global find_global(const std::string& symbol) const;
    // The symbols of its kernels; empty where the driver does not tell.
    std::vector<std::string> function_symbols() const;

private:
    Context& context_;
    ModuleHandle module_ = nullptr;
};

// Facts of a function that is loaded: CUfunction_attribute.
int attribute_of(Context& context, FunctionHandle function, int which);
void set_attribute(Context& context, FunctionHandle function, int which, int value, const char* what);

// The bytes of a kernel's parameters; nothing where the driver does not tell.
std::optional<std::vector<size_t>> parameter_bytes(Context& context, FunctionHandle function);

// A module in a context and one function of it.
class LoadedFunction {
public:
    // `image` is a cubin. Throws DeviceError when the driver refuses it.
    LoadedFunction(Context& context, std::string_view image, const std::string& symbol);

    FunctionHandle handle() const { return function_; }
    int registers() const { return attribute(kFunctionRegisters); }       // of a thread
    int local_bytes() const { return attribute(kFunctionLocalBytes); }    // of a thread: spilled registers
    int most_threads() const { return attribute(kFunctionMostThreads); }  // of a block
    void allow_shared(size_t bytes);                                      // dynamic shared memory

private:
    int attribute(int which) const { return attribute_of(module_.context(), function_, which); }

    LoadedModule module_;
    FunctionHandle function_ = nullptr;
};

}  // namespace weft::cuda
