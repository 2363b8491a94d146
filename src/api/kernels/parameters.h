// What element-wise and reduction kernels in C++ share: their parameters, and the dtypes and shapes of a
// call.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/c_source/elements.h"
#include "weft/array.h"
#include "weft/c_kernels.h"

namespace weft {

std::vector<CKernelParameter> read_kernel_parameters(std::string_view text);
/// Throws ValueError for what is no name of a function, or for parameters of one name.
void check_kernel_names(std::string_view name, std::span<const CKernelParameter> inputs,
                        std::span<const CKernelParameter> outputs);

struct KernelTypes {
    std::vector<DType> inputs, outputs;
    std::map<std::string, DType, std::less<>> placeholders;

    std::string key() const;
    std::vector<std::pair<std::string, ScalarType>> names() const;
};

using KernelCodes = std::vector<std::pair<std::vector<DType>, std::string>>;

/// Arguments of one call.
struct KernelArguments {
    std::vector<std::optional<array>> inputs;  // none: a number
    std::vector<Argument> numbers;             // beside each
    std::vector<array> outputs;                // empty: new ones
};

/// Throws TypeError for a wrong count, or outputs that are no arrays.
KernelArguments read_kernel_arguments(std::string_view name, std::span<const CKernelParameter> inputs,
                                      std::span<const CKernelParameter> outputs,
                                      std::span<const Argument> arguments);
/// Throws TypeError where arguments of one placeholder differ, or are not of the parameter's dtype.
KernelTypes kernel_types(std::span<const CKernelParameter> inputs, std::span<const CKernelParameter> outputs,
                         const KernelArguments& arguments);
/// A number as C++ converts it, without dimensions.
array converted_number(const Argument& number, DType dtype);

}  // namespace weft
