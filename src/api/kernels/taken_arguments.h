// Arguments of kernels that run at the call: arrays in C order without gaps, as the code takes them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/kernels/parameters.h"
#include "device/device.h"
#include "device/kernel.h"
#include "lang/c_source/ranges.h"
#include "weft/array.h"

namespace weft {

struct Taken {
    lang::c_source::RangeArgument how{};
    array value{};   // in C order
    array target{};  // what it is written to afterwards, where it is a copy
    bool is_output = false;

    bool is_number() const { return how.kind == lang::c_source::ArgumentKind::kNumber; }
    bool is_raw() const { return how.kind == lang::c_source::ArgumentKind::kRaw; }
};

/// Where the arrays are. Throws ValueError where they are in several places.
DeviceBackend& device_of_kernel(const std::string& name, const KernelArguments& arguments);

class TakenArguments {
public:
    /// On the current device. Outputs that are not given are new, and 0.
    TakenArguments(std::span<const lang::c_source::Parameter> inputs,
                   std::span<const lang::c_source::Parameter> outputs, const KernelArguments& arguments,
                   const KernelTypes& types, const Dims& shape);

    const std::vector<Taken>& all() const { return all_; }
    const std::vector<array>& results() const { return results_; }
    /// Kinds and ranks, as a text.
    std::string key() const;
    /// Whether an output is in the memory of another argument.
    bool share_memory() const;
    void write_back() const;

private:
    std::vector<Taken> all_;
    std::vector<array> results_;
};

/// Its bytes, 16 at most.
std::vector<char> bytes_of_number(const array& number);

}  // namespace weft
