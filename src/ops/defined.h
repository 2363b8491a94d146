// Operations that the program defines, such as ufuncs of its functions: entries like those of the op table,
// whose loops are compiled from kernel IR while the program runs.
#pragma once

#include <cstddef>
#include <string_view>

#include "ops/constant.h"
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

/// A reduction that the program defines: ReductionInfo::combine is OpId::kDefined. It lives as long as the
/// process.
struct DefinedReduction : ReductionInfo {
    static constexpr auto kId = static_cast<ReductionId>(kReductionCount);  // none of the table's
    const OpInfo* by = nullptr;                                             // combines two partial results
    Constant start{};                                                       // what partial results begin with
    bool allows_empty = true;  // no elements at all give that, too
};

/// Null for those of the op table.
inline const DefinedReduction* defined_reduction(const ReductionInfo& info) {
    return info.combine == OpId::kDefined ? static_cast<const DefinedReduction*>(&info) : nullptr;
}

/// What two partial results are combined by.
inline const OpInfo& combining_operation(const ReductionInfo& info) {
    const DefinedReduction* const defined = defined_reduction(info);
    return defined != nullptr ? *defined->by : op_info(info.combine);
}

}  // namespace weft
