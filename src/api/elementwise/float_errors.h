// Floating-point errors of what runs under np.errstate, found by inspecting operands and results: an
// operation was invalid where its result is nan and no operand is, it divided by zero where the result is
// infinite at a pole, it overflowed where it is infinite otherwise though all operands are finite, and it
// underflowed where the result is below the smallest normal number and not exact. The same on every device,
// and whatever instructions computed the result: the processor's flags are not asked, since vector functions
// set them at will.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/float_errors.h"
#include "ops/op.h"
#include "weft/array.h"
#include "weft/ops.h"

namespace weft {

// What is called while one lives is part of one operation, and is not watched itself. False (which it always
// is while nobody asked) if nobody wants to hear of this operation's errors.
class FloatWatch {
public:
    FloatWatch();
    ~FloatWatch();
    FloatWatch(const FloatWatch&) = delete;
    FloatWatch& operator=(const FloatWatch&) = delete;
    explicit operator bool() const { return wanted_ != 0; }
    bool wants(FloatError error) const { return (wanted_ & bit(error)) != 0; }

    // Where `condition`, of bools, is true, there is the error.
    void look(FloatError error, const array& condition);
    void found(FloatError error) { found_ |= wanted_ & bit(error); }
    // Elements where it is false were not computed.
    void set_mask(Argument mask) { mask_ = std::move(mask); }

    // Computes what was called, and tells who asked of what was found since it was told last.
    // `invalid`: another name for what was invalid.
    void report(std::string_view name, std::span<const array> results, std::string_view invalid = {});

private:
    struct Inspection {
        FloatError error;
        array condition;
    };
    FloatErrors wanted_ = 0, found_ = 0;
    std::optional<Argument> mask_;
    std::vector<Inspection> inspections_;
};

// The same calls as those of weft/ops.h, while somebody wants to hear of errors.
std::vector<array> watched_call(FloatWatch& watch, const OpInfo& op, std::span<const Argument> inputs,
                                const CallOptions& options);
array watched_reduce(FloatWatch& watch, const ReductionInfo& info, const array& input,
                     const ReduceOptions& options);
array watched_accumulate(FloatWatch& watch, const OpInfo& op, const array& input, int64_t axis,
                         const AccumulateOptions& options);
array watched_astype(FloatWatch& watch, const array& input, DType dtype, char order, Casting casting,
                     bool copy);
void watched_assign(FloatWatch& watch, const array& target, const Argument& value,
                    const std::optional<Argument>& where, Casting casting);

// After a product of matrices, or of vectors.
void inspect_product(FloatWatch& watch, const array& left, const array& right, const array& result);
// After what combined elements of `inputs` in whatever way.
void inspect_whole(FloatWatch& watch, std::span<const array> inputs, const array& result);
// After op.at: `before` and `after` are the elements that were named, of the target's dtype.
void inspect_changes(FloatWatch& watch, const OpInfo& op, const array& before,
                     const std::optional<array>& operand, const array& after);

}  // namespace weft
