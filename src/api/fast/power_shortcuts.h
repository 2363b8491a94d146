// Powers by one exponent for all elements, where NumPy's loops of float32 and float64 compute something else:
// by -1 reciprocals, by 0.5 square roots, by 2 squares; weft also multiplies for 3. The bits show it, and the
// powers of -inf and -0 by 0.5. The paths into a call (api/fast/fast_call.h, api/recording/record_fast.h,
// api/elementwise/call.cpp) ask before they record or run one.
#pragma once

#include <optional>
#include <span>

#include "api/fast/fast_call.h"
#include "ops/op.h"
#include "weft/ops.h"

namespace weft {

// The operation of the base alone that a power by this exponent is, if it is one.
inline std::optional<OpId> operation_of_exponent(double exponent) {
    if (exponent == 2) return OpId::kSquare;
    if (exponent == 0.5) return OpId::kSqrt;
    if (exponent == -1) return OpId::kReciprocal;
    return std::nullopt;
}

// The same for the operator `**` of Python (not np.power), for an array and a Python number: there the type
// of the array counts too, and shows in the errors of integers.
inline std::optional<OpId> operation_of_operator(DType base, double exponent, bool exponent_is_integer) {
    if (!base.is_inexact()) {
        const bool is_square = exponent == 2 && exponent_is_integer && !base.is_bool();
        return is_square ? std::optional(OpId::kSquare) : std::nullopt;
    }
    return exponent == 1 ? OpId::kPositive : operation_of_exponent(exponent);
}

struct StrengthReducedPower {
    const OpInfo* op;  // of the base alone
    bool times_base = false;
};

// What stands for `op` on these operands, if something does. The exponent is a number, or an array of one
// host-resident element: one that is pending stays an exponent like any other, since to look at it would end
// the fusion.
std::optional<StrengthReducedPower> strength_reduced_power(const OpInfo& op, ScalarType loop_type,
                                                           const Argument& base, const Argument& exponent);

// Whether there may be one: such a call is left to api/elementwise/call.cpp.
bool may_be_strength_reduced(const OpInfo& op, std::span<const GivenOperand> inputs);

}  // namespace weft
