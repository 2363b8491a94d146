#include "weft/assembly.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/placement.h"
#include "weft/creation.h"
#include "weft/errors.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/quantiles.h"
#include "weft/statistics.h"

namespace weft {

namespace {

// Elements: below, one read of all is quicker than three parts joined.
constexpr int64_t kFew = 1 << 14;

array part_along(const array& a, int64_t axis, const Index& part) {
    std::vector<Index> indices(static_cast<size_t>(axis), Index(Slice{}));
    indices.push_back(part);
    return index(a, indices);
}

array between(const array& a, int64_t axis, Bound start, Bound stop, Bound step = {}) {
    return part_along(a, axis, slice(start, stop, step));
}

int64_t extent_of(const array& a, int64_t axis) { return a.shape()[static_cast<size_t>(axis)]; }

std::optional<array> repeated(const array& value, const array& a, int64_t axis, int64_t count) {
    if (count == 0) return {};
    Dims shape = a.shape();
    shape[static_cast<size_t>(axis)] = count;
    return broadcast_to(value, shape);
}

array around(const array& a, int64_t axis, const std::optional<array>& before,
             const std::optional<array>& after) {
    std::vector<array> parts;
    if (before) parts.push_back(astype(*before, a.dtype()));
    parts.push_back(a);
    if (after) parts.push_back(astype(*after, a.dtype()));
    return concatenate(parts, axis);
}

// --- elements of the array itself --------------------------------------------------------------------

// The border as a view of the array, where it is one.
std::optional<array> view_of_border(const array& a, int64_t axis, int64_t count, bool in_front,
                                    PadMode mode) {
    const int64_t extent = extent_of(a, axis);
    if (mode == PadMode::kEdge || extent == 1)
        return repeated(in_front ? between(a, axis, 0, 1) : between(a, axis, extent - 1, extent), a, axis,
                        count);
    const int64_t once = mode == PadMode::kReflect ? 1 : 0;  // the edge itself is not there twice
    if (count > extent - once) return {};
    if (mode == PadMode::kWrap)
        return in_front ? between(a, axis, extent - count, extent) : between(a, axis, 0, count);
    const int64_t first = in_front ? count - 1 + once : extent - 1 - once;
    const int64_t end = first - count;  // before the last
    return between(a, axis, first, end >= 0 ? Bound(end) : Bound(), -1);
}

array at_places(const array& a, int64_t axis, const array& place, PadMode mode, bool odd) {
    const int64_t extent = extent_of(a, axis);
    if (mode == PadMode::kEdge || extent == 1)
        return take(a, maximum(minimum(place, Integer(extent - 1)), Integer(0)), axis);
    if (mode == PadMode::kWrap) return take(a, remainder(place, Integer(extent)), axis);
    // There and back again: the edges are passed once (reflect) or twice (symmetric).
    const bool reflects = mode == PadMode::kReflect;
    const int64_t period = 2 * (reflects ? extent - 1 : extent);
    const array inside = remainder(place, Integer(period));
    const array back = greater_equal(inside, Integer(extent));
    const array mirrored = subtract(Integer(reflects ? period : period - 1), inside);
    const array values = take(a, where(back, mirrored, inside), axis);
    if (!odd) return values;
    // The mirror image is turned round the edge, so each turn climbs by twice the way from edge to edge.
    const array first = between(a, axis, 0, 1), last = between(a, axis, -1, none);
    Dims along(a.shape().size(), 1);
    along[static_cast<size_t>(axis)] = place.size();
    const array turns = astype(reshape(floor_divide(place, Integer(period)), along), a.dtype());
    const array turned = where(reshape(back, along), subtract(multiply(Integer(2), last), values), values);
    return add(turned, multiply(multiply(Integer(2), turns), subtract(last, first)));
}

// Read where arithmetic says: the borders alone, unless they are few.
array by_positions(const array& a, int64_t axis, const PadWidth& width, PadMode mode, bool odd) {
    const int64_t extent = extent_of(a, axis);
    if (a.size() < kFew)
        return at_places(a, axis, arange(Integer(-width.before), Integer(extent + width.after)), mode, odd);
    std::optional<array> borders[2];
    for (const bool in_front : {true, false}) {
        const int64_t count = in_front ? width.before : width.after, begin = in_front ? -count : extent;
        if (count == 0) continue;
        std::optional<array>& border = borders[in_front ? 0 : 1];
        if (!odd) border = view_of_border(a, axis, count, in_front, mode);
        if (!border) border = at_places(a, axis, arange(Integer(begin), Integer(begin + count)), mode, odd);
    }
    return around(a, axis, borders[0], borders[1]);
}

// --- what is computed from the elements next to the edge ---------------------------------------------

array statistic(const array& a, int64_t axis, std::optional<int64_t> given, PadMode mode, bool at_end) {
    const int64_t extent = extent_of(a, axis), length = std::min(given.value_or(extent), extent);
    const bool of_some = mode == PadMode::kMaximum || mode == PadMode::kMinimum;
    if (length == 0 && of_some) throw ValueError("stat_length of 0 yields no value for padding");
    const array part = at_end ? between(a, axis, extent - length, none) : between(a, axis, 0, length);
    const auto found = [&]() -> array {
        switch (mode) {
            case PadMode::kMaximum: return max(part, axis, {.keepdims = true});
            case PadMode::kMinimum: return min(part, axis, {.keepdims = true});
            case PadMode::kMedian: return median(part, axis, {.keepdims = true});
            default: return mean(part, axis, {.keepdims = true});
        }
    };
    const array result = found();
    return a.dtype().is_integer() && result.dtype().is_floating() ? rint(result) : result;
}

array by_ramp(const array& a, int64_t axis, const PadWidth& width, const std::array<Argument, 2>& ends) {
    std::optional<array> ramps[2];
    for (const size_t side : {size_t{0}, size_t{1}}) {
        const int64_t count = side == 0 ? width.before : width.after;
        if (count == 0) continue;
        const array edge = part_along(a, axis, side == 0 ? int64_t{0} : int64_t{-1});
        const array ramp =
            linspace_with_step(ends[side], edge, count, {.endpoint = false, .dtype = a.dtype(), .axis = axis})
                .first;
        ramps[side] = side == 0 ? ramp : between(ramp, axis, none, none, -1);
    }
    return around(a, axis, ramps[0], ramps[1]);
}

// --- around all axes at once -------------------------------------------------------------------------

array in_the_middle(const array& a, const std::vector<PadWidth>& widths, array whole) {
    std::vector<Index> inside;
    for (size_t d = 0; d < widths.size(); ++d)
        inside.push_back(slice(widths[d].before, widths[d].before + a.shape()[d]));
    assign(index(whole, inside), a);
    return whole;
}

// Of the type that NumPy gives a number, which is uint64 from 2^63 on.
array number_as(const Argument& value, DType dtype) {
    const auto* integer = std::get_if<Integer>(&value);
    const bool is_wide = integer != nullptr && !integer->negative && integer->magnitude > INT64_MAX;
    return astype(is_wide ? from_argument(value, DType(ScalarType::kUInt64)) : from_argument(value), dtype);
}

bool is_one_number(const std::array<Argument, 2>& values) {
    if (const auto* real = std::get_if<double>(&values[0])) {
        const auto* other = std::get_if<double>(&values[1]);
        return other != nullptr && (*real == *other || (*real != *real && *other != *other)) &&
               std::signbit(*real) == std::signbit(*other);
    }
    const auto* integer = std::get_if<Integer>(&values[0]);
    const auto* other = std::get_if<Integer>(&values[1]);
    return integer != nullptr && other != nullptr && integer->magnitude == other->magnitude &&
           integer->negative == other->negative && !integer->huge && !other->huge;
}

Dims wider(const array& a, const std::vector<PadWidth>& widths) {
    Dims shape = a.shape();
    for (size_t d = 0; d < widths.size(); ++d) {
        if (__builtin_add_overflow(shape[d], widths[d].before, &shape[d]) ||
            __builtin_add_overflow(shape[d], widths[d].after, &shape[d]))
            throw ValueError(
                "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible "
                "size.");
    }
    return shape;
}

}  // namespace

array pad(const array& a, const std::vector<PadWidth>& given, const PadOptions& options) {
    const auto rank = a.shape().size();
    std::vector<PadWidth> widths = given;
    if (widths.size() == 1) widths.assign(rank, given[0]);
    if (widths.size() != rank)
        throw ValueError("pad takes a width for each of the " + std::to_string(rank) + " axes, or one; got " +
                         std::to_string(given.size()));
    for (const PadWidth& width : widths) {
        if (width.before < 0 || width.after < 0) throw ValueError("index can't contain negative values");
    }
    const auto of_axis = [](const auto& list, size_t axis, auto otherwise) {
        return list.empty() ? otherwise : list[list.size() == 1 ? 0 : axis];
    };
    if ((options.values.size() > 1 && options.values.size() != rank) ||
        (options.lengths.size() > 1 && options.lengths.size() != rank))
        throw ValueError("pad takes a pair of values for each of the " + std::to_string(rank) +
                         " axes, or one");
    const DeviceScope scope(device_of(a));
    const PadMode mode = options.mode;
    const bool is_fortran = a.f_contiguous() && !a.c_contiguous();
    const char order = is_fortran ? 'F' : 'C';
    if (mode == PadMode::kEmpty) return in_the_middle(a, widths, empty(wider(a, widths), a.dtype(), order));
    if (mode == PadMode::kConstant && options.values.size() <= 1) {
        const std::array<Argument, 2> ends = of_axis(options.values, 0, std::array<Argument, 2>{0, 0});
        if (is_one_number(ends)) {
            const array value = number_as(ends[0], a.dtype());
            return in_the_middle(a, widths, full(wider(a, widths), value, a.dtype(), order));
        }
    }
    for (const auto& pair : options.lengths) {
        const bool of_some = mode == PadMode::kMaximum || mode == PadMode::kMinimum;
        if (of_some && (pair[0] == 0 || pair[1] == 0))
            throw ValueError("stat_length of 0 yields no value for padding");
    }
    array result = a;
    bool changed = false;
    for (size_t d = 0; d < rank; ++d) {
        const auto axis = static_cast<int64_t>(d);
        const PadWidth& width = widths[d];
        if (width.before == 0 && width.after == 0) continue;
        changed = true;
        if (a.shape()[d] == 0 && mode != PadMode::kConstant)
            throw ValueError("can't extend empty axis " + std::to_string(d) +
                             " using modes other than 'constant' or 'empty'");
        const std::array<Argument, 2> values = of_axis(options.values, d, std::array<Argument, 2>{0, 0});
        switch (mode) {
            case PadMode::kEdge:
            case PadMode::kReflect:
            case PadMode::kSymmetric:
            case PadMode::kWrap: result = by_positions(result, axis, width, mode, options.odd); break;
            case PadMode::kLinearRamp: result = by_ramp(result, axis, width, values); break;
            case PadMode::kConstant: {
                const auto end = [&](size_t side, int64_t count) {
                    // On the array's device, as an array with dimensions has to be.
                    const array value = full({}, number_as(values[side], a.dtype()), a.dtype());
                    return repeated(value, result, axis, count);
                };
                result = around(result, axis, end(0, width.before), end(1, width.after));
                break;
            }
            default: {
                const auto lengths = of_axis(options.lengths, d, std::array<std::optional<int64_t>, 2>{});
                const auto end = [&](bool at_end, int64_t count) -> std::optional<array> {
                    if (count == 0) return {};
                    return repeated(statistic(result, axis, lengths[at_end ? 1 : 0], mode, at_end), result,
                                    axis, count);
                };
                result = around(result, axis, end(false, width.before), end(true, width.after));
            }
        }
    }
    const bool in_order = is_fortran ? result.f_contiguous() : result.c_contiguous();
    return changed && in_order ? result : copy(result, order);
}

}  // namespace weft
