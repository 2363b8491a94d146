// What a compiled kernel is to whoever launches it, on either device, and how its arguments are passed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace weft {

// Arguments are flattened to 64-bit words in parameter order: a buffer is its base address followed by its
// dynamic strides in dimension order; a scalar is its bytes in one word (two for complex128), zero extended.
using ArgumentWord = uint64_t;

// A box of the kernel's grid: [lower[d], upper[d]) for each grid dimension. Codegen compiles a CPU kernel
// with one outermost parallel(grid) into a function over such a box; the launcher cuts the grid into boxes,
// one a task.
constexpr int kMaxGridDimensions = 8;
struct GridBox {
    std::array<int64_t, kMaxGridDimensions> lower{};
    std::array<int64_t, kMaxGridDimensions> upper{};
};
using CpuKernelFunction = void (*)(const ArgumentWord* words, const int64_t* lower, const int64_t* upper);

// Shared, immutable; keeps the machine code alive.
class CompiledKernel {
public:
    virtual ~CompiledKernel() = default;
    std::string name;
    int grid_dimensions = 0;
    double compile_seconds = 0;
};

// A kernel of this process's CPU: machine code, or whatever else runs over a box of the grid.
class CpuKernel : public CompiledKernel {
public:
    // Thread safe.
    virtual void run(const ArgumentWord* words, const int64_t* lower, const int64_t* upper) const {
        function(words, lower, upper);
    }
    CpuKernelFunction function = nullptr;  // null where `run` is not a function of machine code
};

// A function of compiled code that the host calls. It returns 0 and has written its results, or 1 and the
// number of the error that it raises, and has written what the error tells: each scalar 16 bytes after the
// one before.
using CpuFunction = int64_t (*)(const ArgumentWord* words, char* results);

// Parts of a function that are compiled when they are first reached, and how many of them are by now.
struct LazyPartCounts {
    size_t all = 0, compiled = 0;
};

class CompiledFunction {
public:
    virtual ~CompiledFunction() = default;
    virtual LazyPartCounts lazy_parts() const { return {}; }
    std::string name;
    CpuFunction function = nullptr;
    double compile_seconds = 0;
};

}  // namespace weft
