#include <string>
#include <vector>

#include "api/recording/part_of_axis.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/calculus.h"
#include "weft/indexing.h"
#include "weft/statistics.h"

namespace weft {

namespace {

// What comes before an array or behind it: without axes it is one value for all of them.
array beside(const array& more, const array& a, int axis) {
    if (more.ndim() != 0) return more;
    Dims shape = a.shape();
    shape[static_cast<size_t>(axis)] = 1;
    return broadcast_to(more, shape);
}

array differences(const array& a, int axis) {
    array later = all_but_first(a, axis), earlier = all_but_last(a, axis);
    if (a.dtype().is_bool()) return not_equal(std::move(later), std::move(earlier));
    return subtract(std::move(later), std::move(earlier));
}

array end_of_differences(const array& given, DType dtype, const char* name) {
    if (!can_cast(given.dtype(), dtype, Casting::kSameKind))
        throw TypeError("dtype of `" + std::string(name) +
                        "` must be compatible with input `ary` under the `same_kind` rule.");
    return astype(ravel(given), dtype, 'K', Casting::kUnsafe, false);
}

}  // namespace

array diff(const array& a, int64_t n, const DiffOptions& options) {
    if (n == 0) return a;
    if (n < 0) throw ValueError("order must be non-negative but got " + std::to_string(n));
    if (a.ndim() == 0) throw ValueError("diff requires input that is at least one dimensional");
    const int axis = normalize_axis(options.axis, a.ndim());
    array result = a;
    if (options.prepend || options.append) {
        std::vector<array> parts{a};
        if (options.prepend) parts.insert(parts.begin(), beside(*options.prepend, a, axis));
        if (options.append) parts.push_back(beside(*options.append, a, axis));
        result = concatenate(parts, axis);
    }
    result = differences(result, axis);
    for (int64_t turn = 1; turn < n && result.shape()[static_cast<size_t>(axis)] != 0; ++turn)
        result = differences(result, axis);
    return result;
}

array ediff1d(const array& ary, const std::optional<array>& to_end, const std::optional<array>& to_begin) {
    const array flat = ravel(ary);
    const array inner = subtract(all_but_first(flat, 0), all_but_last(flat, 0));
    std::vector<array> parts{inner};
    if (to_begin) parts.insert(parts.begin(), end_of_differences(*to_begin, ary.dtype(), "to_begin"));
    if (to_end) parts.push_back(end_of_differences(*to_end, ary.dtype(), "to_end"));
    return parts.size() == 1 ? inner : concatenate(parts);
}

array trapezoid(const array& y, const std::optional<array>& x, const Argument& dx, int64_t axis) {
    Argument distance = dx;
    if (x && x->ndim() == 1) {
        if (axis < -y.ndim() || axis >= y.ndim()) throw IndexError("list assignment index out of range");
        Dims along(y.shape().size(), 1);
        along[static_cast<size_t>(normalize_axis(axis, y.ndim()))] = -1;
        distance = reshape(diff(*x), along);
    } else if (x) {
        distance = diff(*x, 1, {.axis = axis});
    }
    const int own = normalize_axis(axis, y.ndim());
    array heights = add(all_but_first(y, own), all_but_last(y, own));
    return sum(divide(multiply(std::move(distance), std::move(heights)), 2.0), own);
}

namespace {

// period / 2 and whether an odd step can be just that: integers round down.
struct HalfPeriod {
    Argument high, low;
    bool is_exact;
};

HalfPeriod half_of_integer(const Argument& period) {
    if (const auto* given = std::get_if<array>(&period)) {
        const auto [high, rest] = divmod(*given, 2);
        return {high, negative(high), truth_of(equal(rest, 0))};
    }
    int64_t number = 0;
    if (const auto* truth = std::get_if<bool>(&period)) number = *truth ? 1 : 0;
    if (const auto* integer = std::get_if<Integer>(&period)) {
        if (integer->huge || integer->magnitude > static_cast<uint64_t>(INT64_MAX))
            return half_of_integer(from_argument(period));
        number = static_cast<int64_t>(integer->magnitude) * (integer->negative ? -1 : 1);
    }
    const int64_t rest = number & 1, high = (number - rest) / 2;
    return {high, -high, rest == 0};
}

HalfPeriod half_of(const Argument& period) {
    if (const auto* number = std::get_if<double>(&period)) return {*number / 2, -(*number / 2), true};
    if (const auto* number = std::get_if<std::complex<double>>(&period))
        return {*number / 2.0, -(*number / 2.0), true};
    if (const auto* integer = std::get_if<Integer>(&period); integer != nullptr && !integer->huge) {
        const double half = (integer->negative ? -1.0 : 1.0) * static_cast<double>(integer->magnitude) / 2;
        return {half, -half, true};
    }
    const array half = divide(period, 2);
    return {half, negative(half), true};
}

}  // namespace

array unwrap(const array& p, const UnwrapOptions& options) {
    const int axis = normalize_axis(options.axis, p.ndim());
    const DeviceScope scope(device_of(p));
    const Argument& period = options.period;
    const array steps = diff(p, 1, {.axis = axis});
    const Argument discont = options.discont ? *options.discont : half_of(period).high;
    const OperandType operands[] = {steps.dtype(), operand_type(period)};
    const DType dtype = result_type(operands);
    const auto [high, low, is_exact] = dtype.is_integer() ? half_of_integer(period) : half_of(period);
    array wrapped = add(remainder(subtract(steps, low), period), low);
    if (is_exact) {
        array at_low = logical_and(equal(wrapped, low), greater(steps, 0));
        wrapped = where(std::move(at_low), from_argument(high, wrapped.dtype()), wrapped);
    }
    const array correct =
        where(less(absolute(steps), discont), from_argument(0, dtype), subtract(std::move(wrapped), steps));
    array result = astype(p, dtype);
    assign(all_but_first(result, axis), add(all_but_first(p, axis), cumsum(correct, axis)));
    return result;
}

array sinc(const array& x) {
    const DeviceScope scope(device_of(x));
    const bool is_whole = x.dtype().is_integer() || x.dtype().is_bool();
    const array given = is_whole ? astype(x, ScalarType::kFloat64) : x;
    const array y = multiply(3.141592653589793, given);
    const array one = from_argument(1, y.dtype());
    const array is_zero = equal(given, 0);
    return where(is_zero, one, divide(sin(y), where(is_zero, one, y)));
}

}  // namespace weft
