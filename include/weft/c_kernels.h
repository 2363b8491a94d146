// Kernels of the program's own in C++, as CuPy has them: the body of a loop over elements, or the three parts
// of a reduction. What lies within weft's own subset of C++ (docs/guide/c-kernels.md) is recorded, fused and
// compiled as weft's own operations are, for CPUs and GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/array.h"

namespace weft {

/// A parameter as it is written: "raw T x", "float32 y".
struct CKernelParameter {
    std::string name;
    std::optional<DType> dtype;  // none: `type` names it, and arguments decide
    std::string type;            // "T", "float32"
    bool is_raw = false;         // an array that the body indexes
};

struct KernelOptions {
    std::string name = "kernel";
    std::string preamble = {};  // functions and constants, before the body
    // Of what lies outside of weft's subset, and is compiled by NVRTC:
    std::vector<std::string> options = {};          // of the compiler
    std::string before_loop = {}, after_loop = {};  // of element-wise kernels
};

/// Computes elements of its outputs from elements of its inputs, which broadcast.
///
///     const weft::ElementwiseKernel squared_difference(
///         "T x, T y", "T z", "T d = x - y; z = d * d;", {.name = "squared_difference"});
///     weft::array z = squared_difference(a, b)[0];
class ElementwiseKernel {
public:
    /// `inputs` and `outputs` are parameters with commas between them. Nothing is compiled yet. Throws
    /// ValueError for what is no list of parameters, TypeError for unknown dtypes.
    ElementwiseKernel(std::string_view inputs, std::string_view outputs, std::string_view body,
                      const KernelOptions& options = {});

    struct Call {
        std::optional<int64_t> size = {};  // how many elements there are, where all arrays are raw
        // Of what NVRTC has compiled: threads of a block, and a stream of CUDA's.
        int64_t block_size = 128;
        uint64_t stream = 0;
    };
    /// Inputs, or inputs and outputs: arrays of the parameters' dtypes, or numbers for inputs, which are
    /// converted as C++ does. Outputs that are not given are new. Code outside of the subset is compiled by
    /// NVRTC on a GPU, and counted among what fell back.
    ///
    /// Throws TypeError and ValueError for what fits no parameter, and CompileError (weft/cuda/raw_kernel.h)
    /// with the place for code outside of the subset on a CPU, or that NVRTC refuses.
    std::vector<array> call(std::span<const Argument> arguments, const Call& how) const;
    template <class... Arguments>
    std::vector<array> operator()(const Arguments&... arguments) const {
        const Argument all[] = {Argument(arguments)...};
        return call(all, {});
    }

    const std::vector<CKernelParameter>& inputs() const;
    const std::vector<CKernelParameter>& outputs() const;
    const std::string& name() const;
    /// What it has been lowered to: kernel IR, by the inputs' dtypes.
    std::vector<std::pair<std::vector<DType>, std::string>> codes() const;

private:
    class Parts;
    std::shared_ptr<Parts> parts_;
};

/// Maps elements, combines what that gives along axes, and maps the results.
///
///     const weft::ReductionKernel norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", {});
///     weft::array y = norm.call(std::vector<weft::Argument>{a}, {.axes = weft::Dims{1}})[0];
class ReductionKernel {
public:
    struct Options : KernelOptions {
        std::string partial_type = {};  // of what is combined; the first output's where it is not given
    };
    struct Call {
        std::optional<Dims> axes = {};  // absent: all; negative ones allowed
        bool keepdims = false;
        std::vector<array> out = {};
        uint64_t stream = 0;  // as of element-wise kernels
    };

    /// `combine` is an expression of `a` and `b`, `finish` statements over `a` that assign the outputs, and
    /// `identity` an expression, or empty where a reduction of no elements is an error.
    ReductionKernel(std::string_view inputs, std::string_view outputs, std::string_view map,
                    std::string_view combine, std::string_view finish, std::string_view identity,
                    const Options& options);

    std::vector<array> call(std::span<const Argument> arguments, const Call& how) const;
    template <class... Arguments>
    std::vector<array> operator()(const Arguments&... arguments) const {
        const Argument all[] = {Argument(arguments)...};
        return call(all, {});
    }

    const std::vector<CKernelParameter>& inputs() const;
    const std::vector<CKernelParameter>& outputs() const;
    const std::string& name() const;
    std::vector<std::pair<std::vector<DType>, std::string>> codes() const;

private:
    class Parts;
    std::shared_ptr<Parts> parts_;
};

}  // namespace weft
