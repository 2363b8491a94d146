#include "weft/statistics.h"

#include <cmath>

#include "core/shape.h"
#include "ops/op.h"
#include "weft/ops.h"

namespace weft {

namespace {

// The dtype to sum in, and the result's when it is another, as NumPy has them.
struct Types {
    std::optional<DType> sum, result;
};

Types types_of(const array& input, std::optional<DType> dtype) {
    if (dtype) return {dtype, {}};
    const DType own = input.dtype();
    if (own.is_bool() || own.is_integer()) return {ScalarType::kFloat64, {}};
    if (own.accumulator() == own) return {};
    return {own.accumulator(), own};
}

// How many elements each sum is of.
Argument count_of(const array& input, const Axes& axis, const std::optional<Argument>& where, bool keepdims) {
    if (where) {
        const array mask = broadcast_to(from_argument(*where), input.shape());
        return sum(mask, axis, {.dtype = ScalarType::kInt64, .keepdims = keepdims});
    }
    if (!axis.list()) return Integer(input.size());
    int64_t count = 1;
    for (const int64_t position : *axis.list())
        count *= input.shape()[static_cast<size_t>(normalize_axis(position, input.ndim()))];
    return Integer(count);
}

Argument less(const Argument& count, double ddof) {
    if (const auto* number = std::get_if<Integer>(&count)) {
        const double left = std::max(static_cast<double>(number->magnitude) - ddof, 0.0);
        return left == std::floor(left) ? Argument(static_cast<int64_t>(left)) : Argument(left);
    }
    const Argument by = ddof == std::floor(ddof) ? Argument(static_cast<int64_t>(ddof)) : Argument(ddof);
    return maximum(subtract(count, by), 0);
}

// total / count, in the total's own type.
array finish(const array& total, const Argument& count, const array& out, std::optional<DType> result) {
    if (out.valid()) return divide(out, count, {.out = out, .casting = Casting::kUnsafe});
    array mean;
    if (total.dtype().is_bool() || total.dtype().is_integer()) {
        mean = astype(divide(total, count), total.dtype());
    } else if (std::holds_alternative<array>(count)) {
        mean = divide(total, count, {.out = total, .casting = Casting::kUnsafe});
    } else {
        mean = divide(total, count);
    }
    return result ? astype(mean, *result) : mean;
}

}  // namespace

array mean(array given, const Axes& axis, const ReductionOptions& options) {
    const array input = std::move(given);  // the caller may hold it for longer
    const Types types = types_of(input, options.dtype);
    const array total =
        sum(input, axis,
            {.dtype = types.sum, .keepdims = options.keepdims, .where = options.where, .out = options.out});
    return finish(total, count_of(input, axis, options.where, options.keepdims), options.out, types.result);
}

array var(array given, const Axes& axis, double ddof, const ReductionOptions& options) {
    const array input = std::move(given);  // the caller may hold it for longer
    const Types types = types_of(input, options.dtype);
    const Argument count = less(count_of(input, axis, options.where, options.keepdims), ddof);
    if (!options.where && types.sum.value_or(input.dtype()).is_floating() && !input.dtype().is_complex()) {
        const array total = reduce(reduction_info(ReductionId::kSquaredDeviations), input,
                                   {.axes = axis.list(),
                                    .dtype = types.sum,
                                    .keepdims = options.keepdims,
                                    .initial = {},
                                    .where = {},
                                    .out = {}});
        if (options.out.valid())
            return divide(total, count, {.out = options.out, .casting = Casting::kUnsafe});
        return finish(total, count, {}, types.result);
    }
    const array sums = sum(input, axis, {.dtype = types.sum, .keepdims = true, .where = options.where});
    const array center = finish(sums, count_of(input, axis, options.where, true), {}, {});
    const array distance = input - center;
    const bool is_complex = distance.dtype().is_complex();
    const array square =
        is_complex ? weft::square(real(distance)) + weft::square(imag(distance)) : weft::square(distance);
    const bool in_complex = types.sum && types.sum->is_complex();
    const array total = sum(square, axis,
                            {.dtype = in_complex ? std::nullopt : types.sum,
                             .keepdims = options.keepdims,
                             .where = options.where,
                             .out = options.out});
    return finish(total, count, options.out, types.result);
}

array std(array given, const Axes& axis, double ddof, const ReductionOptions& options) {
    return sqrt(var(std::move(given), axis, ddof, options), {.out = options.out});
}

array count_nonzero(array given, const Axes& axis, bool keepdims) {
    const array input = std::move(given);  // the caller may hold it for longer
    const array is_not_zero = input.dtype().is_bool() ? input : input != 0;
    return sum(is_not_zero, axis, {.dtype = ScalarType::kInt64, .keepdims = keepdims});
}

namespace {

array running(OpId id, const array& input, std::optional<int64_t> axis, const AccumulateOptions& options) {
    return axis ? accumulate(op_info(id), input, *axis, options)
                : accumulate(op_info(id), ravel(input), 0, options);
}

}  // namespace

array cumsum(const array& input, std::optional<int64_t> axis, const AccumulateOptions& options) {
    return running(OpId::kAdd, input, axis, options);
}

array cumprod(const array& input, std::optional<int64_t> axis, const AccumulateOptions& options) {
    return running(OpId::kMultiply, input, axis, options);
}

}  // namespace weft
