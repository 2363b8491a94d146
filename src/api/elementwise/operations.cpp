#include "api/elementwise/operations.h"

#include "weft/operations.h"
#include "weft/ops.h"

namespace weft {

namespace {

std::vector<array> call_with(const OpInfo& op, std::span<const Argument> inputs,
                             const OperationOptions& options) {
    const bool has_out = options.out.valid() || options.second_out.valid();
    const array out[2] = {options.out, options.second_out};
    return call(op, inputs,
                {.out = std::span<const array>(out, has_out ? op.nout : 0),
                 .where = options.where,
                 .dtype = options.dtype,
                 .casting = options.casting,
                 .order = options.order});
}

}  // namespace

array call_one(const OpInfo& op, std::span<const Argument> inputs, const OperationOptions& options) {
    return std::move(call_with(op, inputs, options)[0]);
}

std::pair<array, array> call_pair(const OpInfo& op, std::span<const Argument> inputs,
                                  const OperationOptions& options) {
    std::vector<array> results = call_with(op, inputs, options);
    return {std::move(results[0]), std::move(results[1])};
}

array reduce_by(ReductionId id, array&& input, const Axes& axis, const ReductionOptions& options) {
    const array taken = std::move(input);
    return reduce(
        reduction_info(id), taken,
        {axis.list(), options.dtype, options.keepdims, options.initial, options.where, options.out});
}

void operators::in_place(std::string_view operation, const array& target, const Argument& right) {
    call_in_place(*find_op(operation), target, right);
}

}  // namespace weft
