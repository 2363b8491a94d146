#include "weft/statistics.h"

#include <cmath>

#include "api/recording/real_number.h"
#include "api/reductions/mean_parts.h"
#include "api/reductions/output_check.h"
#include "core/shape.h"
#include "ops/op.h"
#include "weft/ops.h"

namespace weft {

MeanTypes mean_types(DType input, std::optional<DType> dtype) {
    if (dtype) return {dtype, {}};
    if (input.is_bool() || input.is_integer()) return {ScalarType::kFloat64, {}};
    if (input.accumulator() == input) return {};
    return {input.accumulator(), input};
}

Argument mean_count(const array& input, const Axes& axis, const std::optional<Argument>& where,
                    bool keepdims) {
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

namespace {

// What a variance divides by: max(count - ddof, 0), an integer where both are.
Argument degrees_of_freedom(const Argument& count, const Argument& ddof) {
    constexpr double kExact = 1LL << 53;
    const auto* elements = std::get_if<Integer>(&count);
    const std::optional<double> number = real_number(ddof);
    if (elements == nullptr || !number) return maximum(subtract(count, ddof), 0);
    const double left = std::max(elements->approximation - *number, 0.0);
    const bool is_integer = left == std::floor(left) && left <= kExact;
    return is_integer ? Argument(static_cast<int64_t>(left)) : Argument(left);
}

array as(const array& values, DType dtype) {
    return values.dtype() == dtype ? values : astype(values, dtype);
}

// total / count, in the total's own type.
array finish(const array& total, const Argument& count, const array& out, std::optional<DType> result) {
    if (out.valid()) return divide(total, count, {.out = out, .casting = Casting::kUnsafe});
    array quotient;
    const bool is_integer = total.dtype().is_bool() || total.dtype().is_integer();
    if (std::holds_alternative<array>(count) && !is_integer && total.ndim() != 0) {
        // In the layout of the sum, as NumPy's.
        quotient = divide(total, count, {.out = total, .casting = Casting::kUnsafe});
    } else {
        quotient = divide(total, count);
    }
    return as(quotient, result.value_or(total.dtype()));
}

// Each element's squared distance from `center`; of complex numbers their absolute values' squares.
array squared_distance(const array& input, const Argument& center) {
    const array distance = subtract(input, center);
    if (!distance.dtype().is_complex()) return distance * distance;
    const array x = real(distance), y = imag(distance);
    return x * x + y * y;
}

}  // namespace

array mean(array given, const Axes& axis, const ReductionOptions& options) {
    array too_few;
    return mean(std::move(given), axis, options, too_few);
}

array mean(array given, const Axes& axis, const ReductionOptions& options, array& too_few) {
    const array input = std::move(given);  // the caller may hold it for longer
    const MeanTypes types = mean_types(input.dtype(), options.dtype);
    const Argument count = mean_count(input, axis, options.where, options.keepdims);
    if (const auto* counts = std::get_if<array>(&count)) too_few = any(less_equal(*counts, 0));
    const array total =
        sum(input, axis,
            {.dtype = types.sum, .keepdims = options.keepdims, .where = options.where, .out = options.out});
    return finish(total, count, options.out, types.result);
}

array var(array given, const Axes& axis, const Argument& ddof, const VarianceOptions& options) {
    array too_few;
    return var(std::move(given), axis, ddof, options, too_few);
}

array var(array given, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
          array& too_few) {
    const array input = std::move(given);  // the caller may hold it for longer
    const MeanTypes types = mean_types(input.dtype(), options.dtype);
    const Argument count = mean_count(input, axis, options.where, options.keepdims);
    if (const auto* counts = std::get_if<array>(&count)) too_few = any(less_equal(*counts, ddof));
    const bool in_one_pass = !options.where && !options.mean && !input.dtype().is_complex() &&
                             types.sum.value_or(input.dtype()).is_floating();
    if (in_one_pass) {
        const array total = reduce(reduction_info(ReductionId::kSquaredDeviations), input,
                                   {.axes = axis.list(),
                                    .dtype = types.sum,
                                    .keepdims = options.keepdims,
                                    .initial = {},
                                    .where = {},
                                    .out = {}});
        if (options.out.valid()) check_reduction_output("add", options.out, total.shape());
        return finish(total, degrees_of_freedom(count, ddof), options.out, types.result);
    }
    Argument center;
    if (options.mean) {
        center = *options.mean;
    } else {
        const array sums = sum(input, axis, {.dtype = types.sum, .keepdims = true, .where = options.where});
        center = finish(sums, mean_count(input, axis, options.where, true), {}, {});
    }
    const bool sums_complex = types.sum && types.sum->is_complex();  // squares are real
    const array total = sum(squared_distance(input, center), axis,
                            {.dtype = sums_complex ? std::nullopt : types.sum,
                             .keepdims = options.keepdims,
                             .where = options.where,
                             .out = options.out});
    return finish(total, degrees_of_freedom(count, ddof), options.out, types.result);
}

array std(array given, const Axes& axis, const Argument& ddof, const VarianceOptions& options) {
    array too_few;
    return std(std::move(given), axis, ddof, options, too_few);
}

array std(array given, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
          array& too_few) {
    return sqrt(var(std::move(given), axis, ddof, options, too_few), {.out = options.out});
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
