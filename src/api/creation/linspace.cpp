// Evenly spaced numbers, between numbers or between arrays.
#include <limits>

#include "api/recording/move_first_axis.h"
#include "api/recording/real_number.h"
#include "api/recording/transfer.h"
#include "graph/operand.h"
#include "weft/creation.h"
#include "weft/operations.h"

namespace weft {

namespace {

int64_t divisions_of(int64_t count, bool endpoint) {
    if (count < 0)
        throw ValueError("Number of samples, " + std::to_string(count) + ", must be non-negative.");
    return endpoint ? count - 1 : count;
}

array apply(OpId operation, const Argument& left, const Argument& right) {
    return call_binary(op_info(operation), left, right);
}

// How the numbers go on from `start`.
struct Spacing {
    const Argument &start, &stop, &delta, &step;
    bool step_is_zero = false;  // some step is: too small a number, perhaps
};

// start + k * step for each k of `values`, which are 0, 1, … along the first axis.
array points(array values, const Spacing& spacing, int64_t divisions, bool endpoint) {
    const int64_t count = values.shape()[0];
    if (divisions > 0 && !spacing.step_is_zero) {
        values = apply(OpId::kMultiply, values, spacing.step);
    } else {
        if (divisions > 0) values = apply(OpId::kDivide, values, divisions);
        values = apply(OpId::kMultiply, values, spacing.delta);
    }
    values = apply(OpId::kAdd, values, spacing.start);
    if (endpoint && count > 1) {
        const Index last[1] = {Index(int64_t{-1})};
        assign(index(values, last), spacing.stop);
    }
    return values;
}

array as_dtype(array values, DType dtype) {
    if (dtype.is_integer()) values = call_unary(op_info(OpId::kFloor), values);
    return dtype == values.dtype() ? values : astype(values, dtype);
}

// An end as an array of `dtype`. Python's integers become real numbers first, as NumPy makes them.
array end_of(const Argument& end, DType dtype) {
    if (const auto* given = std::get_if<array>(&end))
        return astype(*given, dtype, 'K', Casting::kUnsafe, false);
    const bool is_integer = std::holds_alternative<Integer>(end);
    const array number =
        from_argument(end, is_integer ? std::optional<DType>(ScalarType::kFloat64) : std::nullopt);
    return astype(move_to(number, current_device()), dtype, 'K', Casting::kUnsafe, false);
}

}  // namespace

array linspace(double start, double stop, int64_t count, bool endpoint, DType dtype) {
    const int64_t divisions = divisions_of(count, endpoint);
    const double distance = stop - start;
    const double by = divisions > 0 ? distance / static_cast<double>(divisions) : 0;
    const Argument first = start, last = stop, delta = distance, step = by;
    const array values = arange(Integer(0), Integer(count), Integer(1), DType(ScalarType::kFloat64));
    return as_dtype(points(values, {first, last, delta, step, by == 0}, divisions, endpoint), dtype);
}

std::pair<array, array> linspace_with_step(const Argument& start, const Argument& stop, int64_t count,
                                           const LinspaceOptions& options) {
    const int64_t divisions = divisions_of(count, options.endpoint);
    const array no_step = from_argument(std::numeric_limits<double>::quiet_NaN());
    if (const auto first = real_number(start), last = real_number(stop); first && last) {
        const array values =
            linspace(*first, *last, count, options.endpoint, options.dtype.value_or(DType()));
        const array step =
            divisions > 0 ? from_argument((*last - *first) / static_cast<double>(divisions)) : no_step;
        return {with_first_axis_at(values, options.axis), step};
    }
    const OperandType types[] = {operand_type(start), operand_type(stop)};
    const DType promoted = result_type(types),
                dtype = promoted.is_inexact() ? promoted : DType(ScalarType::kFloat64);
    const array first = end_of(start, dtype), last = end_of(stop, dtype);
    const array delta = apply(OpId::kSubtract, last, first);
    const array step = divisions > 0 ? apply(OpId::kDivide, delta, divisions) : no_step;
    const bool step_is_zero = divisions > 0 && truth_of(any(step == 0));
    Dims along(static_cast<size_t>(delta.ndim()) + 1, 1);
    along[0] = count;
    const array numbers = dtype.is_complex() ? astype(arange(count), dtype) : arange(count, dtype);
    const Argument ends[] = {first, last, delta, step};
    array values = points(reshape(numbers, along), {ends[0], ends[1], ends[2], ends[3], step_is_zero},
                          divisions, options.endpoint);
    values = with_first_axis_at(values, options.axis);
    return {as_dtype(std::move(values), options.dtype.value_or(dtype)), step};
}

array linspace(const Argument& start, const Argument& stop, int64_t count, const LinspaceOptions& options) {
    return linspace_with_step(start, stop, count, options).first;
}

}  // namespace weft
