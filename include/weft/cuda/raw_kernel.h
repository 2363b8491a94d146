// Kernels in CUDA C++: compiled by NVRTC at their first use (or by nvcc, or read from files), kept on disk,
// and launched with weft's arrays. RawModule is a source or a file with its kernels and variables, RawKernel
// one kernel of it. A GPU is needed for launches alone.
//
//     weft::RawKernel scale(R"(
//         extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
//             int i = blockIdx.x * blockDim.x + threadIdx.x;
//             if (i < n) y[i] = factor * x[i];
//         })", "scale");
//     scale.launch({n / 256 + 1}, {256}, {x, y, 2.5, n});
#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weft/array.h"
#include "weft/dtype.h"
#include "weft/errors.h"

namespace weft {

/// CUDA C++ that its compiler refuses: the first errors with their lines. In Python it is
/// weft.exceptions.CompileError.
class CompileError : public TypeError {
public:
    CompileError(const std::string& message, std::string log) : TypeError(message), log_(std::move(log)) {}
    const std::string& log() const { return log_; }  // all that the compiler said

private:
    std::string log_;
};

enum class CudaCompiler : uint8_t { kNvrtc, kNvcc };

struct RawModuleOptions {
    std::vector<std::string> options;           // of the compiler: "-use_fast_math", "-DN=3", "-I..."
    std::vector<std::string> name_expressions;  // of templates and functions in namespaces: "scale<float>"
    CudaCompiler compiler = CudaCompiler::kNvrtc;
    bool cooperative = false;        // launches run all blocks at once, so that a grid may wait for itself
    std::string name = "kernel.cu";  // of the source, in messages
};

/// What is known of a kernel's parameter, by its mangled name, its source, its PTX and the driver.
struct KernelParameter {
    enum class Kind : uint8_t {
        kUnknown,
        kPointer,
        kInteger,
        kFloating,
        kBytes,  // complex numbers and structures
    };
    Kind kind = Kind::kUnknown;
    std::optional<DType> dtype = {};  // its own, or that of what it points to
    bool is_const = false;            // what it points to
    int64_t bytes = 0;                // its size; 0: unknown
    std::string text = {};            // "const float*"; empty: unknown
};

/// An argument of a kernel. Numbers are converted to the type of the parameter; `exact` ones have a type
/// already.
class KernelArgument {
public:
    struct Address {
        uint64_t address;
    };
    struct Bytes {
        std::vector<char> bytes;
        std::string what;                 // in messages: "a float64"
        std::optional<DType> dtype = {};  // of a number
    };
    using Value = std::variant<array, bool, int64_t, uint64_t, double, std::complex<double>, Address, Bytes>;

    KernelArgument(array value) : value_(std::move(value)) {}
    KernelArgument(bool value) : value_(value) {}
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    KernelArgument(T value)
        : value_(static_cast<std::conditional_t<std::signed_integral<T>, int64_t, uint64_t>>(value)) {}
    template <std::floating_point T>
    KernelArgument(T value) : value_(static_cast<double>(value)) {}
    template <std::floating_point T>
    KernelArgument(std::complex<T> value) : value_(std::complex<double>(value)) {}
    KernelArgument(Address address) : value_(address) {}
    KernelArgument(Bytes bytes) : value_(std::move(bytes)) {}
    /// A value as it is in memory: a structure, or a number of exactly the parameter's type.
    template <class T>
        requires std::is_trivially_copyable_v<T>
    static KernelArgument exact(const T& value) {
        const char* first = reinterpret_cast<const char*>(&value);
        return Bytes{{first, first + sizeof(T)}, "a value", {}};
    }

    const Value& value() const { return value_; }

private:
    Value value_;
};

/// Sizes of a grid or a block: up to three.
class LaunchSize {
public:
    LaunchSize(int64_t x = 1, int64_t y = 1, int64_t z = 1) : sizes_{x, y, z} {}
    LaunchSize(std::span<const int64_t> sizes);  // throws ValueError for none, and for more than three

    int64_t operator[](size_t axis) const { return sizes_[axis]; }
    const std::array<int64_t, 3>& all() const { return sizes_; }

private:
    std::array<int64_t, 3> sizes_{1, 1, 1};
};

/// What a kernel takes on a device, as the driver tells it.
struct KernelAttributes {
    int max_threads_per_block = 0;
    int shared_size_bytes = 0, const_size_bytes = 0;
    int local_size_bytes = 0;  // of a thread: arrays of its own, and registers that were spilled
    int num_regs = 0;          // of a thread
    int ptx_version = 0, binary_version = 0;
    int cache_mode_ca = 0;
    int max_dynamic_shared_size_bytes = 0;
    int preferred_shared_memory_carveout = 0;
};

namespace raw {
struct Module;
struct Kernel;
}  // namespace raw

/// A kernel of CUDA C++. Copies share what is compiled. Nothing is compiled before it is needed.
class RawKernel {
public:
    RawKernel(std::string code, std::string name, RawModuleOptions options = {});

    /// Queues the kernel where its arrays are, else on the current device, which has to be a GPU. Arrays are
    /// evaluated; what the kernel may write, which is what its parameters do not point to as const, is seen
    /// by all later reads. A null array stands for a null pointer.
    ///
    /// Throws TypeError where arguments are too many or too few, or of other types or sizes than the
    /// parameters, OverflowError for integers that do not fit, ValueError for arrays on the CPU or on several
    /// GPUs, arrays for reading only that would be written, empty grids, and blocks that are too large,
    /// CompileError where the source does not compile, and DeviceError where there is no NVRTC or no GPU.
    /// `stream`: a stream of CUDA, whose work up to now comes before the kernel, and whose later work after
    /// it.
    void launch(const LaunchSize& grid, const LaunchSize& block, std::span<const KernelArgument> arguments,
                int64_t shared_bytes = 0, uint64_t stream = 0) const;
    void launch(const LaunchSize& grid, const LaunchSize& block,
                std::initializer_list<KernelArgument> arguments, int64_t shared_bytes = 0) const {
        launch(grid, block, std::span(arguments.begin(), arguments.size()), shared_bytes);
    }
    /// Compiles and loads it on the current device, or that of the number, now. Gives the compiler's
    /// warnings.
    std::string compile(int device = -1) const;

    const std::string& name() const;
    /// On the current device, or that of the number.
    KernelAttributes attributes(int device = -1) const;
    std::vector<KernelParameter> parameters(int device = -1) const;
    /// More shared memory than a block usually has (48 KiB), on all devices. Throws ValueError where a device
    /// has less.
    void set_max_dynamic_shared_size_bytes(int64_t bytes) const;
    void set_preferred_shared_memory_carveout(int percent) const;
    /// Blocks and threads of each with which the device is full; for `count` threads as many blocks as these
    /// need.
    std::pair<int64_t, int64_t> suggest(std::optional<int64_t> count = {}, int64_t shared_bytes = 0,
                                        int device = -1) const;

private:
    friend class RawModule;
    explicit RawKernel(std::shared_ptr<raw::Kernel> kernel) : kernel_(std::move(kernel)) {}
    std::shared_ptr<raw::Kernel> kernel_;
};

/// CUDA C++ with several kernels, in one source or several that are linked, or machine code from files.
class RawModule {
public:
    RawModule(std::string code, RawModuleOptions options = {});
    RawModule(std::vector<std::string> sources, RawModuleOptions options = {});
    /// Files: cubin, fatbin, PTX, LTO-IR, libraries. What is more than one, or LTO-IR, is linked.
    static RawModule from_files(std::vector<std::string> paths, RawModuleOptions options = {});

    /// As RawKernel::compile. Gives the compiler's warnings.
    std::string compile(int device = -1) const;

    /// The kernel of this name: a symbol, or one of the name expressions. Throws ValueError, with the names
    /// that there are.
    RawKernel get_function(const std::string& name) const;
    /// The memory of a variable of the module (__device__, __constant__) as bytes.
    array get_global(const std::string& name, int device = -1) const;
    /// Its machine code for the device, as it may be put into a file for from_files: a cubin, or what was
    /// given.
    std::string machine_code(int device = -1) const;
    /// The names of its kernels, without their parameters.
    std::vector<std::string> function_names(int device = -1) const;

    const RawModuleOptions& options() const;

private:
    explicit RawModule(std::shared_ptr<raw::Module> module) : module_(std::move(module)) {}
    std::shared_ptr<raw::Module> module_;
};

}  // namespace weft
