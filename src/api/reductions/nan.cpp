#include "weft/nan.h"

#include <limits>

#include "api/reductions/nan_parts.h"
#include "core/scalar_traits.h"
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
                  bool& nothing) {
    nothing = false;
    const auto plain = [&](array values, const ReductionOptions& how) {
        return largest ? max(std::move(values), axis, how) : min(std::move(values), axis, how);
    };
    if (a.dtype().is_complex()) throw TypeError("nanmax and nanmin of complex elements");
    if (!a.dtype().is_floating()) return plain(a, options);
    ReductionOptions rest = options;
    rest.out = array();
    constexpr int64_t kFew = int64_t{1} << 16;
    if (!axis.list() && !options.where && a.size() != 0 && a.size() <= kFew && evaluated(a)) {
        // Without NaN, as most arrays are, it is the plain one, which is done at once.
        const array found = plain(a, rest);
        if (!truth_of(any(isnan(found)))) return in_output(found, options.out);
    }
    const double worst = largest ? -kInfinity : kInfinity;
    // What is replaced has no name here, so that it is nowhere in memory.
    array result = plain(nan_replaced(a, worst), rest);
    // Where something is better than the worst, not all is missing.
    if (!options.initial && is_somewhere(result == worst)) {
        const array missing = all(isnan(a), axis, {.keepdims = options.keepdims});
        nothing = is_somewhere(missing);
        result = where(missing, from_argument(kNan, a.dtype()), result);
    }
    return in_output(result, options.out);
}

array nanmax(const array& a, const Axes& axis, const ReductionOptions& options) {
    bool nothing;
    return nan_extreme(true, a, axis, options, nothing);
}
array nanmin(const array& a, const Axes& axis, const ReductionOptions& options) {
    bool nothing;
    return nan_extreme(false, a, axis, options, nothing);
}
array nanargmax(const array& a, const Axes& axis, const ReductionOptions& options) {
    return arg_extreme(true, a, axis, options);
}
array nanargmin(const array& a, const Axes& axis, const ReductionOptions& options) {
    return arg_extreme(false, a, axis, options);
}

array nan_mean(const array& a, const Axes& axis, const ReductionOptions& options, bool& nothing) {
    nothing = false;
    if (!may_be_nan(a.dtype())) return mean(a, axis, options);
    check_inexact(options.dtype, options.out);
    const array count =
        sum(logical_not(isnan(a)), axis,
            {.dtype = ScalarType::kInt64, .keepdims = options.keepdims, .where = options.where});
    const array total = sum(nan_replaced(a, 0), axis,
                            {.dtype = options.dtype, .keepdims = options.keepdims, .where = options.where});
    nothing = is_somewhere(count == 0);
    const array result = nothing ? quotient(total, count) : as(divide(total, count), total.dtype());
    return in_output(result, options.out);
}

array nanmean(const array& a, const Axes& axis, const ReductionOptions& options) {
    bool nothing;
    return nan_mean(a, axis, options, nothing);
}

array nan_variance(const array& a, const Axes& axis, const Argument& ddof, const VarianceOptions& options,
                   bool& nothing) {
    nothing = false;
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
    nothing = is_somewhere(free <= 0);
    return in_output(quotient(total, free), options.out);
}

array nanvar(const array& a, const Axes& axis, const Argument& ddof, const VarianceOptions& options) {
    bool nothing;
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
