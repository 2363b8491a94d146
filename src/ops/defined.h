// Operations that the program defines, such as ufuncs of its functions: entries like those of the op table,
// whose loops are compiled from kernel IR while the program runs.
#pragma once

#include <cstddef>
#include <string_view>

#include "ops/op.h"

namespace weft {

/// What an operation has in the place of bitcode and of ahead-of-time loops. It lives as long as the process,
/// as the operation does: pending work and kernels point at it.
class DefinedOperation {
public:
    virtual ~DefinedOperation() = default;
    /// The kernel IR of a loop: a function of one element, with the loop's symbol for its name. Other text
    /// has another symbol.
    virtual std::string_view ir(size_t loop) const = 0;
    /// Makes LoopInfo::loop, which is null before. Thread safe.
    virtual void prepare(size_t loop) const = 0;
};

/// To be called before LoopInfo::loop is used; nothing for loops of the op table.
inline void prepare_loop(const OpInfo& op, const LoopInfo& loop) {
    if (op.defined != nullptr) op.defined->prepare(static_cast<size_t>(&loop - op.loops.data()));
}

}  // namespace weft
