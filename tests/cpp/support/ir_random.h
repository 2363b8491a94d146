// Random well-formed kernels, and memory to run them on: what the printer, the parser, the passes and the
// code generator are tested with against the scalar oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/ir.h"
#include "ir/oracle.h"

namespace weft::ir {

struct RandomKernelOptions {
    int instructions = 40;  // about how many
    bool calls = true;
    bool reductions = true;
    bool blocks = false;  // with shared memory, atomics, and barriers in loops and branches; without races
    bool views = false;   // of global buffers; functions have them anyway, and carry and return buffers
    // Operations that show the sign of a NaN, which code generators do not promise.
    bool nan_signs = true;
};

// One kernel, after the functions that it calls. Its parameters are %n, an input and an output buffer of each
// of some types; point i of its grid of n points reads inputs anywhere and writes outputs at i.
Module random_kernel(uint64_t seed, const RandomKernelOptions& options = {});

// The same as a function, without a grid: it returns float64 and int32 from anywhere, or raises, as do the
// functions that it calls. Those take and give a buffer, too.
Module random_function(uint64_t seed, const RandomKernelOptions& options = {});

// Whether chunks of its spreads may raise. Then others have written, or not, by the time of an error.
bool chunks_raise(const Module& module);

// Arguments for a module of random_kernel, filled from a seed; two of the same seed are equal until run.
class RandomArguments {
public:
    RandomArguments(const Module& module, uint64_t seed);
    std::vector<OracleArgument> arguments() const;
    std::vector<uint64_t> words() const;  // the same, as a launch passes them
    const std::vector<std::vector<char>>& contents() const { return memory_; }
    const Function& kernel() const { return kernel_; }
    int64_t size() const { return size_; }

private:
    const Function& kernel_;
    int64_t size_;
    std::vector<std::vector<char>> memory_;  // by parameter; empty for scalars
};

}  // namespace weft::ir
