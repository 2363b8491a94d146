// Element-wise kernels in C++ that index arrays, which run at the call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/kernels/parameters.h"
#include "lang/c_source/elements.h"
#include "weft/array.h"

namespace weft {

/// The code of one kernel, for each combination of dtypes, ranks and devices.
class RawElements {
public:
    RawElements();
    ~RawElements();
    RawElements(const RawElements&) = delete;
    RawElements& operator=(const RawElements&) = delete;

    /// Throws lang::CompileError for code outside of the subset, IndexError.
    std::vector<array> run(const std::string& name, const lang::c_source::ElementSource& source,
                           const KernelArguments& arguments, const KernelTypes& types, const Dims& shape);

private:
    struct Code;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const Code>> codes_;
};

}  // namespace weft
