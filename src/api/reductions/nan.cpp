#include "weft/nan.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/recording/host_row.h"
#include "api/reductions/nan_parts.h"
#include "core/scalar_traits.h"
#include "core/shape.h"
#include "graph/operand.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/ops.h"

namespace weft {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool may_be_nan(DType dtype) { return dtype.is_floating() || dtype.is_complex(); }

array as(const array& values, DType dtype) {
    return values.dtype() == dtype ? values : astype(values, dtype);
}

bool is_somewhere(const array& condition) { return truth_of(any(condition)); }

array in_output(const array& result, const array& out) {
    if (!out.valid()) return result;
    assign_where(out, result, true, Casting::kUnsafe);
    return out;
}

void check_inexact(const std::optional<DType>& dtype, const array& out) {
    if (dtype && !may_be_nan(*dtype)) throw TypeError("If a is inexact, then dtype must be inexact");
    if (out.valid() && !may_be_nan(out.dtype())) throw TypeError("If a is inexact, then out must be inexact");
}

// total / count in the total's dtype, NaN where the count is not above zero.
array quotient(const array& total, const array& count) {
    const array is_some = count > 0;
    const array divided = divide(total, where(is_some, count, 1));
    const Argument nothing = total.dtype().is_complex() ? Argument(std::complex<double>(kNan, kNan)) : kNan;
    return as(where(is_some, divided, from_argument(nothing, total.dtype())), total.dtype());
}

// Whether its elements are few and in the host's memory.
bool is_read_at_once(const array& a) {
    constexpr int64_t kFew = int64_t{1} << 17;
    const bool is_plain =
        a.dtype() == DType(ScalarType::kFloat32) || a.dtype() == DType(ScalarType::kFloat64);
    return is_plain && a.size() <= kFew && device_of(a).is_cpu() && evaluated(a);
}

// The best of elements in their place; NaN is no better than any. Several at a time, each with a best of its
// own.
template <class T>
double extreme_of(bool largest, const array& a) {
    constexpr size_t kLanes = 16;
    const HostRow row(a);
    const auto* const elements = row.as<T>();
    const auto count = static_cast<size_t>(row.count());
    const auto search = [&](auto better) {
        const T worst =
            better(T(1), T(0)) ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
        std::array<T, kLanes> best;
        best.fill(worst);
        size_t i = 0;
        for (; i + kLanes <= count; i += kLanes) {
            for (size_t k = 0; k < kLanes; ++k) {
                const T x = elements[i + k];
                best[k] = better(x, best[k]) ? x : best[k];
            }
        }
        for (; i < count; ++i) best[0] = better(elements[i], best[0]) ? elements[i] : best[0];
        for (const T each : best) best[0] = better(each, best[0]) ? each : best[0];
        return static_cast<double>(best[0]);
    };
    return largest ? search([](T x, T y) { return x > y; }) : search([](T x, T y) { return x < y; });
}

// The first of the elements that each element of a reduction is of.
array first_along(const array& a, const Axes& axis, const Dims& shape) {
    Dims extents = a.shape();
    if (axis.list()) {
        for (const int64_t each : *axis.list())
            extents[static_cast<size_t>(normalize_axis(each, a.ndim()))] = 1;
    } else {
        std::fill(extents.begin(), extents.end(), 1);
    }
    return reshape(a.with_view(a.dtype(), extents, a.strides(), a.offset()), shape);
}

array arg_extreme(bool largest, const array& a, const Axes& axis, const ReductionOptions& options) {
    if (may_be_nan(a.dtype()) && is_somewhere(all(isnan(a), axis)))
        throw ValueError("All-NaN slice encountered");
    const array values = nan_replaced(a, largest ? -kInfinity : kInfinity);
    return largest ? argmax(values, axis, options) : argmin(values, axis, options);
}

}  // namespace

array nan_replaced(const array& a, const Argument& value) {
    if (!may_be_nan(a.dtype())) return a;
    return where(isnan(a), from_argument(value, a.dtype()), a);
}

array nansum(const array& a, const Axes& axis, const ReductionOptions& options) {
    return sum(nan_replaced(a, 0), axis, options);
}
array nanprod(const array& a, const Axes& axis, const ReductionOptions& options) {
    return prod(nan_replaced(a, 1), axis, options);
}
array nancumsum(const array& a, std::optional<int64_t> axis, const AccumulateOptions& options) {
    return cumsum(nan_replaced(a, 0), axis, options);
}
array nancumprod(const array& a, std::optional<int64_t> axis, const AccumulateOptions& options) {
    return cumprod(nan_replaced(a, 1), axis, options);
}

array nan_extreme(bool largest, const array& a, const Axes& axis, const ReductionOptions& options,
                  array& nothing) {
    const auto plain = [&](array values, const ReductionOptions& how) {
        return largest ? max(std::move(values), axis, how) : min(std::move(values), axis, how);
    };
    if (!may_be_nan(a.dtype())) return plain(a, options);
    ReductionOptions rest = options;
    rest.out = array();
    const double worst = largest ? -kInfinity : kInfinity;
    if (!axis.list() && !options.where && !options.initial && is_read_at_once(a)) {
        const double found = a.dtype() == DType(ScalarType::kFloat32) ? extreme_of<float>(largest, a)
                                                                      : extreme_of<double>(largest, a);
        if (found != worst) {
            array result = from_argument(found, a.dtype());
            if (options.keepdims) result = reshape(result, Dims(a.shape().size(), 1));
            return in_output(result, options.out);
        }
    }
    // What is replaced has no name here, so that it is nowhere in memory.
    const Argument filling =
        a.dtype().is_complex() ? Argument(std::complex<double>(worst, worst)) : Argument(worst);
    array result = plain(nan_replaced(a, filling), rest);
    if (options.initial) return in_output(result, options.out);
    // Where something is better than the worst, not all is missing.
    // Elements in memory are looked at again only where that can matter; pending ones are computed once, for
    // both.
    const bool may_look = evaluated(result) || (device_of(a).is_cpu() && evaluated(a));
    if (may_look && !is_somewhere(equal(result, filling))) return in_output(result, options.out);
    const array missing = all(isnan(a), axis, {.keepdims = options.keepdims});
    nothing = any(missing);
    result =
        where(missing,
              a.dtype().is_complex() ? first_along(a, axis, result.shape()) : from_argument(kNan, a.dtype()),
              result);
    return in_output(result, options.out);
}

array nanmax(const array& a, const Axes& axis, const ReductionOptions& options) {
    array nothing;
    return nan_extreme(true, a, axis, options, nothing);
}
array nanmin(const array& a, const Axes& axis, const ReductionOptions& options) {
    array nothing;
    return nan_extreme(false, a, axis, options, nothing);
}
array nanargmax(const array& a, const Axes& axis, const ReductionOptions& options) {
    return arg_extreme(true, a, axis, options);
}
array nanargmin(const array& a, const Axes& axis, const ReductionOptions& options) {
    return arg_extreme(false, a, axis, options);
}

array nan_mean(const array& a, const Axes& axis, const ReductionOptions& options, array& nothing) {
    if (!may_be_nan(a.dtype())) return mean(a, axis, options);
    check_inexact(options.dtype, options.out);
    const array count =
        sum(logical_not(isnan(a)), axis,
            {.dtype = ScalarType::kInt64, .keepdims = options.keepdims, .where = options.where});
    const array total = sum(nan_replaced(a, 0), axis,
                            {.dtype = options.dtype, .keepdims = options.keepdims, .where = options.where});
    nothing = any(count == 0);
    const bool is_everywhere = evaluated(nothing) && !truth_of(nothing);
    return in_output(is_everywhere ? as(divide(total, count), total.dtype()) : quotient(total, count),
                     options.out);
}

array nanmean(const array& a, const Axes& axis, const ReductionOptions& options) {
    array nothing;
    return nan_mean(a, axis, options, nothing);
}

array nan_variance(const array& a, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
                   array& nothing) {
    if (!may_be_nan(a.dtype())) return var(a, axis, ddof, options);
    check_inexact(options.dtype, options.out);
    array present = logical_not(isnan(a));
    if (options.where) present = logical_and(present, *options.where);
    const array count = sum(present, axis, {.dtype = ScalarType::kInt64, .keepdims = true});
    const array values = nan_replaced(a, 0);
    Argument center;
    if (options.mean) {
        center = *options.mean;
    } else {
        center =
            quotient(sum(values, axis, {.dtype = options.dtype, .keepdims = true, .where = present}), count);
    }
    const array distance = where(present, subtract(values, center), from_argument(0, values.dtype()));
    const array square =
        distance.dtype().is_complex() ? real(distance * conjugate(distance)) : distance * distance;
    const array total = sum(square, axis, {.keepdims = options.keepdims});
    const array free = subtract(options.keepdims ? count : reshape(count, total.shape()), ddof);
    nothing = any(free <= 0);
    return in_output(quotient(total, free), options.out);
}

array nanvar(const array& a, const Axes& axis, const Argument& ddof, const VarianceOptions& options) {
    array nothing;
    return nan_variance(a, axis, ddof, options, nothing);
}
array nanstd(const array& a, const Axes& axis, const Argument& ddof, const VarianceOptions& options) {
    return sqrt(nanvar(a, axis, ddof, options), {.out = options.out});
}

namespace {

double largest_of(DType dtype) {
    switch (dtype.scalar_type()) {
        case ScalarType::kFloat16: return 65504;
        case ScalarType::kBFloat16: return 0x1.fep127;
        case ScalarType::kFloat32:
        case ScalarType::kComplex64: return std::numeric_limits<float>::max();
        default: return std::numeric_limits<double>::max();
    }
}

array cleaned(const array& x, const NanReplacements& by) {
    const auto number = [&](const std::optional<Argument>& given, double otherwise) {
        if (!given) return from_argument(otherwise, x.dtype());
        if (const auto* values = std::get_if<array>(&*given))
            return astype(*values, x.dtype(), 'K', Casting::kSameKind, false);
        return from_argument(*given, x.dtype());
    };
    const double most = largest_of(x.dtype());
    return where(
        isnan(x), number(by.nan, 0),
        where(x == kInfinity, number(by.posinf, most), where(x == -kInfinity, number(by.neginf, -most), x)));
}

}  // namespace

array nan_to_num(const array& x, const NanReplacements& replacements) {
    if (!may_be_nan(x.dtype())) return copy(x);
    if (!x.dtype().is_complex()) return cleaned(x, replacements);
    array result = copy(x);
    assign(real(result), cleaned(real(x), replacements));
    assign(imag(result), cleaned(imag(x), replacements));
    return result;
}

}  // namespace weft
