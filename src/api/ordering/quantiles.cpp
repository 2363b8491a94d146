#include "api/ordering/quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "api/ordering/rows_of_axes.h"
#include "api/recording/transfer.h"
#include "core/shape.h"
#include "graph/placement.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/ordering.h"
#include "weft/statistics.h"

namespace weft {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_whole(DType dtype) { return dtype.is_integer() || dtype.is_bool(); }

array as(const array& values, DType dtype) { return astype(values, dtype, 'K', Casting::kUnsafe, false); }

array last_of(const array& rows) { return rows(ellipsis, -1); }

// A row without its NaNs.
array without_nan(const array& row) {
    const array missing = isnan(row);
    return truth_of(any(missing)) ? array(row(logical_not(missing))) : row;
}

// ---- where quantiles lie ----

constexpr std::array<std::string_view, 13> kNames = {"inverted_cdf",
                                                     "averaged_inverted_cdf",
                                                     "closest_observation",
                                                     "interpolated_inverted_cdf",
                                                     "hazen",
                                                     "weibull",
                                                     "linear",
                                                     "median_unbiased",
                                                     "normal_unbiased",
                                                     "lower",
                                                     "higher",
                                                     "midpoint",
                                                     "nearest"};

// Between which of `count` sorted elements parts `q` lie, from 0 on.
array places_of(QuantileMethod method, const Argument& count, const Argument& one_less, const array& q) {
    const auto by = [&](const Argument& alpha, const Argument& factor) {
        return subtract(add(multiply(count, q), add(alpha, multiply(q, factor))), 1);
    };
    switch (method) {
        case QuantileMethod::kLinear: return multiply(one_less, q);
        case QuantileMethod::kLower: return floor(multiply(one_less, q));
        case QuantileMethod::kHigher: return ceil(multiply(one_less, q));
        case QuantileMethod::kNearest: return rint(multiply(one_less, q));
        case QuantileMethod::kMidpoint: {
            const array place = multiply(one_less, q);
            return 0.5 * (floor(place) + ceil(place));
        }
        case QuantileMethod::kInvertedCdf: return ceil(multiply(count, q)) - 1;
        case QuantileMethod::kAveragedInvertedCdf: return multiply(count, q) - 1;
        case QuantileMethod::kClosestObservation: {
            const array place = multiply(count, q) - 1.5, below = floor(place);
            return where(logical_and(place == below, below % 2 == 1), below, below + 1);
        }
        case QuantileMethod::kInterpolatedInvertedCdf: return by(0, 0);
        case QuantileMethod::kHazen: return by(0.5, 0.0);
        case QuantileMethod::kWeibull: return by(0, 1);
        case QuantileMethod::kMedianUnbiased: return by(1.0 / 3, 1 - 1.0 / 3 - 1.0 / 3);
        default: return by(3.0 / 8, 1 - 3.0 / 8 - 3.0 / 8);
    }
}

bool is_discrete(QuantileMethod method) {
    return method == QuantileMethod::kLower || method == QuantileMethod::kHigher ||
           method == QuantileMethod::kNearest || method == QuantileMethod::kInvertedCdf ||
           method == QuantileMethod::kClosestObservation;
}

// Parts, and whether they are a number of the host language, which leaves the array's dtype as it is.
struct Parts {
    array q;
    bool weak = false;
};

Parts parts_of(const array& a, const Argument& given, bool percent) {
    Parts parts{from_argument(given),
                std::holds_alternative<Integer>(given) || std::holds_alternative<double>(given)};
    if (percent) {
        const bool is_real = a.dtype().is_floating();
        parts.q = divide(parts.q, is_real ? Argument(from_argument(100, a.dtype())) : Argument(100));
    }
    array& q = parts.q;
    if (q.ndim() > 2) throw ValueError("q must be a scalar or 1d");
    if (q.size() != 0 && !truth_of(all(logical_and(q >= 0, q <= 1))))
        throw ValueError(percent ? "Percentiles must be in the range [0, 100]"
                                 : "Quantiles must be in the range [0, 1]");
    if (q.size() == 0 && q.ndim() != 1)
        throw ValueError("zero-size array to reduction operation minimum which has no identity");
    if (q.ndim() != 0) q = move_to(q, device_of(a));
    return parts;
}

// ---- of rows in order ----

// Between neighbours, from the nearer one, so that both are met.
array between(const array& first, const array& second, const Argument& part) {
    const array distance = subtract(second, first);
    if (const auto* number = std::get_if<double>(&part)) {
        if (*number < 0.5) return first + distance * *number;
        return second - distance * (1 - *number);
    }
    const auto& parts = std::get<array>(part);
    return where(parts < 0.5, first + distance * parts, second - distance * (1 - parts));
}

// How far behind the element below, and that one; for discrete methods only the latter.
struct Position {
    array below, above, part;
};

Position position_of(const array& places, QuantileMethod method, const Argument& last) {
    const auto within = [&](const array& place) {
        return as(maximum(minimum(place, last), 0), ScalarType::kInt64);
    };
    if (is_discrete(method) || (method == QuantileMethod::kLinear && is_whole(places.dtype())))
        return {within(places), {}, {}};
    const array below = floor(places);
    array part = places - below;
    const auto instead = [&](double wanted, double then, double otherwise) {
        return where(part == wanted, from_argument(then, part.dtype()),
                     from_argument(otherwise, part.dtype()));
    };
    if (method == QuantileMethod::kAveragedInvertedCdf) part = instead(0, 0.5, 1);
    if (method == QuantileMethod::kMidpoint) part = instead(0.5, 0.5, 0);
    const array inside = logical_and(places >= 0, less(places, last));
    part = where(inside, part, from_argument(0, part.dtype()));
    const array first = within(below);
    return {first, where(inside, within(below + 1), first), part};
}

// Of sorted rows along the first axis that have `count` elements each.
array of_equal_rows(const array& ordered, const Parts& parts, QuantileMethod method, int64_t count) {
    const Position position = position_of(places_of(method, count, count - 1, parts.q), method, count - 1);
    const auto at = [&](const array& place) { return take(ordered, place, 0, TakeMode::kRaise); };
    const array first = at(position.below);
    if (!position.part.valid()) return first;
    const array second = at(position.above);
    if (parts.weak) return between(first, second, as(position.part, ScalarType::kFloat64).item<double>());
    Dims shape = position.part.shape();
    for (int d = 1; d < ordered.ndim(); ++d) shape.push_back(1);
    return between(first, second, reshape(position.part, shape));
}

// Of sorted rows along the first axis, of which so many elements of each count.
array of_unequal_rows(const array& ordered, const Parts& parts, QuantileMethod method, const array& counts) {
    Dims shape = parts.q.shape();
    for (int d = 1; d < ordered.ndim(); ++d) shape.push_back(1);
    const array q = reshape(move_to(parts.q, device_of(ordered)), shape);
    const Position position =
        position_of(places_of(method, counts, counts - 1, q), method, maximum(counts - 1, 0));
    const auto at = [&](const array& place) {
        Dims rows = ordered.shape();
        rows[0] = parts.q.size();
        return reshape(take_along_axis(ordered, reshape(place, rows), 0), place.shape());
    };
    const array first = at(position.below);
    if (!position.part.valid()) return first;
    const array part = parts.weak ? as(position.part, ordered.dtype()) : position.part;
    return between(first, at(position.above), part);
}

// Rows with what quantiles need at its place; sorted, where that may be many places.
array with_places(const array& rows, const array& q, QuantileMethod method, int64_t count) {
    constexpr int64_t kFew = 4;
    if (q.size() > kFew) return sort(rows, -1);
    const int64_t last = count - 1;
    const array below = ravel(as(floor(places_of(method, count, last, q)), ScalarType::kInt64));
    std::vector<int64_t> places{last};
    for (int64_t k = 0; k < below.size(); ++k) {
        const auto place = below.item<int64_t>(k);
        for (const int64_t step : {0, 1}) places.push_back(std::clamp<int64_t>(place + step, 0, last));
    }
    return partition(rows, std::move(places), -1);
}

array last_axis_first(const array& rows) {
    Dims axes{rows.ndim() - 1};
    for (int64_t d = 0; d + 1 < rows.ndim(); ++d) axes.push_back(d);
    return transpose(rows, axes);
}

// ---- with weights ----

array fitting_weights(array weights, const array& a, const Axes& axis, const RowsOfAxes& over) {
    if (weights.shape() != a.shape()) {
        if (!axis.list()) throw TypeError("Axis must be specified when shapes of a and weights differ.");
        Dims along, order;
        for (const int64_t d : over.axes()) along.push_back(a.shape()[static_cast<size_t>(d)]);
        if (weights.shape() != along)
            throw ValueError("Shape of weights must be consistent with shape of a along specified axis.");
        for (size_t k = 0; k < along.size(); ++k) order.push_back(static_cast<int64_t>(k));
        std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
            return over.axes()[static_cast<size_t>(x)] < over.axes()[static_cast<size_t>(y)];
        });
        if (weights.ndim() > 1) weights = transpose(weights, order);
        Dims shape;
        for (int64_t d = 0; d < a.ndim(); ++d) {
            const bool reduced = std::find(over.axes().begin(), over.axes().end(), d) != over.axes().end();
            shape.push_back(reduced ? a.shape()[static_cast<size_t>(d)] : 1);
        }
        weights = broadcast_to(reshape(weights, shape), a.shape());
    }
    if (truth_of(any(weights < 0))) throw ValueError("Weights must be non-negative.");
    return weights;
}

// By the running sums of the weights: the first element at which they reach a part `q` of all.
array by_weights(const array& rows, const array& given, const array& q) {
    const int64_t along = rows.ndim() - 1;
    const array order = argsort(rows, along);
    const array ordered = take_along_axis(rows, order, along);
    const array running =
        cumsum(take_along_axis(given, order, along), along, {.dtype = ScalarType::kFloat64, .out = {}});
    array parts = running / running(ellipsis, slice(-1, none));
    if (truth_of(any(isnan(last_of(parts))))) throw ValueError("Weights included NaN, inf or were all zero.");
    if (q.dtype().is_floating()) parts = as(parts, q.dtype());
    if (truth_of(any(parts(ellipsis, 0) == 0)))
        parts = where(parts == 0, from_argument(-1, parts.dtype()), parts);
    Dims shape = q.shape();
    for (int d = 0; d < rows.ndim(); ++d) shape.push_back(1);
    const array wanted = reshape(move_to(q, device_of(rows)), shape);
    const array before = sum(parts < wanted, -1, {.dtype = ScalarType::kInt64});
    const array place = minimum(before, rows.shape().back() - 1);
    Dims named{q.size()};
    for (int64_t d = 0; d < along; ++d) named.push_back(rows.shape()[static_cast<size_t>(d)]);
    return reshape(take_along_axis(last_axis_first(ordered), reshape(place, named), 0), place.shape());
}

array with_nan(const array& values, const array& where_nan, DType dtype) {
    return as(where(where_nan, from_argument(kNan, dtype), values), dtype);
}

}  // namespace

QuantileMethod quantile_method(std::string_view name) {
    const auto* const found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) {
        std::string text = "'" + std::string(name) + "' is not a valid method. Use one of: ";
        for (const std::string_view each : kNames)
            text += (each == kNames[0] ? "" : ", ") + std::string(each);
        throw ValueError(text);
    }
    return static_cast<QuantileMethod>(found - kNames.begin());
}

FoundQuantiles find_median(const array& a, const Axes& axis, const MedianOptions& options, bool skip_nan) {
    const bool may_be_nan = a.dtype().is_floating() || a.dtype().is_complex();
    const bool skips = skip_nan && may_be_nan && a.size() != 0;
    const RowsOfAxes over(a, axis);
    array rows = over.rows();
    FoundQuantiles found;
    array result;
    const bool single = rows.size() == rows.shape().back();
    if (skips && single) {
        rows = without_nan(reshape(rows, {-1}));
        found.some_nothing = rows.size() == 0;
    }
    const int64_t length = rows.shape().back(), half = length / 2;
    if (found.some_nothing) {
        result = from_argument(kNan, a.dtype());
    } else if (length == 0) {
        result = mean(rows, -1);
    } else if (skips && !single) {
        const array ordered = sort(rows, -1);
        const array count = length - sum(isnan(rows), -1, {.dtype = ScalarType::kInt64});
        const auto at = [&](const array& place) {
            const array named = expand_dims(place, Dims{-1});
            return array(take_along_axis(ordered, named, ordered.ndim() - 1)(ellipsis, 0));
        };
        const array high = minimum(floor_divide(count, 2), length - 1);
        const array low = maximum(floor_divide(count - 1, 2), 0);
        const array first = at(low), second = at(high);
        result =
            as(where(low == high, first, (first + second) / from_argument(2, rows.dtype())), rows.dtype());
        const array nothing = count == 0;
        if (truth_of(any(nothing))) {
            found.some_nothing = true;
            result = where(nothing, from_argument(kNan, rows.dtype()), result);
        }
    } else {
        std::vector<int64_t> places{std::max<int64_t>(half - 1, 0), half};
        if (!skips) places.push_back(length - 1);
        const array ordered = partition(rows, std::move(places), -1);
        const int64_t from = length % 2 == 1 ? half : half - 1;
        result = mean(ordered(ellipsis, slice(from, half + 1)), -1);
        if (may_be_nan && !skips) {
            const array last = last_of(ordered), missing = isnan(last);
            if (missing.ndim() != 0 || truth_of(missing))
                result = as(where(missing, last, result), result.dtype());
        }
    }
    if (single && skips) result = reshape(result, over.result_shape());
    found.values = over.finish(result, options.keepdims, options.out, 0);
    found.is_element = !options.keepdims || options.out.valid();
    return found;
}

FoundQuantiles find_quantiles(const array& a, const Argument& given, const Axes& axis,
                              const QuantileOptions& options, bool percent, bool skip_nan) {
    if (a.dtype().is_complex()) throw TypeError("a must be an array of real numbers");
    const Parts parts = parts_of(a, given, percent);
    const QuantileMethod method = options.method;
    if (options.weights && method != QuantileMethod::kInvertedCdf)
        throw ValueError("Only method 'inverted_cdf' supports weights. Got: " +
                         std::string(kNames[static_cast<size_t>(method)]) + ".");
    const RowsOfAxes over(a, axis);
    array rows = over.rows(), weights;
    if (options.weights) weights = over.rows_of(fitting_weights(*options.weights, a, axis, over));
    if (rows.size() == 0 && rows.shape().back() == 0)
        throw IndexError("cannot take a quantile of no elements");
    const bool floating = a.dtype().is_floating(), skips = skip_nan && floating;
    FoundQuantiles found;
    array result, bad;
    const bool single = rows.size() == rows.shape().back();
    if (options.weights) {
        if (skips) {
            const array missing = isnan(rows);
            bad = all(missing, -1);
            // rows of NaN alone give NaN
            const array left_out = logical_and(missing, logical_not(expand_dims(bad, Dims{-1})));
            weights = where(left_out, from_argument(0, weights.dtype()), weights);
        } else if (floating) {
            bad = any(isnan(rows), -1);
        }
        result = by_weights(rows, weights, parts.q);
    } else if (skips && !single) {
        const array missing = isnan(rows);
        const array counts = rows.shape().back() - sum(missing, -1, {.dtype = ScalarType::kInt64});
        bad = counts == 0;
        result = of_unequal_rows(last_axis_first(sort(rows, -1)), parts, method, counts);
    } else {
        if (skips) {
            const array row = without_nan(reshape(rows, {-1}));
            if (row.size() == 0) {
                bad = from_argument(true);
                rows = reshape(rows, {-1});
            } else {
                rows = row;
            }
        }
        const array ordered = last_axis_first(with_places(rows, parts.q, method, rows.shape().back()));
        result = of_equal_rows(ordered, parts, method, rows.shape().back());
        if (floating && !bad.valid() && !skips) bad = isnan(ordered(-1));
        if (skips && !over.result_shape().empty()) {
            Dims shape = parts.q.shape();
            for (const int64_t extent : over.result_shape()) shape.push_back(extent);
            result = reshape(result, shape);
        }
    }
    bool single_nan = false;
    if (bad.valid()) {
        const bool some = truth_of(any(bad));
        found.some_nothing = skips && some;
        single_nan = some && bad.ndim() == 0;
        // a single NaN is an element
        const DType own = result.ndim() == 0 && some ? a.dtype() : result.dtype();
        if (some) result = with_nan(result, bad, own);
    }
    if (!result.c_contiguous()) result = copy(result, 'C');
    found.values = over.finish(result, options.keepdims, options.out, parts.q.ndim());
    found.is_element = options.out.valid() || (!options.keepdims && (!options.weights || single_nan));
    return found;
}

array median(const array& a, const Axes& axis, const MedianOptions& options) {
    return find_median(a, axis, options, false).values;
}
array nanmedian(const array& a, const Axes& axis, const MedianOptions& options) {
    return find_median(a, axis, options, true).values;
}
array quantile(const array& a, const Argument& q, const Axes& axis, const QuantileOptions& options) {
    return find_quantiles(a, q, axis, options, false, false).values;
}
array percentile(const array& a, const Argument& q, const Axes& axis, const QuantileOptions& options) {
    return find_quantiles(a, q, axis, options, true, false).values;
}
array nanquantile(const array& a, const Argument& q, const Axes& axis, const QuantileOptions& options) {
    return find_quantiles(a, q, axis, options, false, true).values;
}
array nanpercentile(const array& a, const Argument& q, const Axes& axis, const QuantileOptions& options) {
    return find_quantiles(a, q, axis, options, true, true).values;
}

}  // namespace weft
