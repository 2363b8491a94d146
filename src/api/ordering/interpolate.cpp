#include "weft/calculus.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "api/fast/fast_call.h"
#include "api/ordering/fast_interpolate.h"
#include "api/recording/real_number.h"
#include "core/float_errors.h"
#include "core/shape.h"
#include "graph/operand.h"
#include "graph/storage_locks.h"
#include "library/ordering/search_loops.h"
#include "weft/assembly.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft {

namespace {

constexpr ScalarType kType = ScalarType::kFloat64;

// A row of float64 whose storage is locked and host-resident.
struct Row {
    const char* data;
    int64_t stride, length;

    explicit Row(const array& value)
        : data(value.storage()->current.buffer->data() + value.offset()),
          stride(value.strides()[0]),
          length(value.shape()[0]) {}
    double operator[](int64_t i) const {
        double element;
        std::memcpy(&element, data + i * stride, sizeof element);
        return element;
    }
};

bool are_points(const array& xp, const array& fp) {
    return xp.ndim() == 1 && fp.ndim() == 1 && xp.dtype() == DType(kType) && fp.dtype() == DType(kType) &&
           xp.shape() == fp.shape() && xp.shape()[0] >= 2 && is_small(xp.shape()[0]);
}

// A line between two neighbouring points, and what lies before the first point and behind the last.
template <class Abscissa, class Ordinate>
struct Line {
    Abscissa left, right;
    Ordinate from, to, slope;
};
template <class Abscissa, class Ordinate>
struct Ends {
    Abscissa first, last;
    Ordinate before, at_last, behind;
};

double choose(bool condition, double yes, double no) { return condition ? yes : no; }
array choose(const array& condition, const array& yes, const array& no) { return where(condition, yes, no); }
template <class Otherwise>
double unless_nan(double value, const Otherwise& otherwise) {
    return value == value ? value : otherwise();
}
template <class Otherwise>
array unless_nan(const array& value, const Otherwise& otherwise) {
    return where(value == value, value, otherwise());
}

// The value at `x`, of numbers or of arrays. `nowhere` is x as an ordinate, for where x is nan.
template <class Abscissa, class Ordinate>
Ordinate value_at(const Abscissa& x, const Ordinate& nowhere, const Line<Abscissa, Ordinate>& line,
                  const Ends<Abscissa, Ordinate>& ends) {
    Ordinate value = line.slope * (x - line.left) + line.from;
    // Where one side is infinite: from the other.
    value = unless_nan(value, [&] {
        const Ordinate from_right = line.slope * (x - line.right) + line.to;
        return unless_nan(from_right, [&] { return choose(line.from == line.to, line.from, from_right); });
    });
    value = choose(x == line.left, line.from, value);
    value = choose(x == ends.last, ends.at_last, value);
    value = choose(x != x, nowhere, value);
    value = choose(x < ends.first, ends.before, value);
    return choose(x > ends.last, ends.behind, value);
}

Ends<double, double> ends_of(const Row& xp, const Row& fp) {
    const int64_t last = xp.length - 1;
    return {xp[0], xp[last], fp[0], fp[last], fp[last]};
}

// `place`: how many points lie at `x` or before it.
double between(const Row& xp, const Row& fp, const Ends<double, double>& ends, double x, int64_t place) {
    const int64_t k = std::clamp<int64_t>(place - 1, 0, xp.length - 2);
    const double left = xp[k], right = xp[k + 1], from = fp[k], to = fp[k + 1];
    return value_at<double, double>(x, x, {left, right, from, to, (to - from) / (right - left)}, ends);
}

// The points once more, sorted within one period, between the last of the period before and the first of the
// next.
void repeat(const Argument& given, array& x, array& xp, array& fp) {
    const std::optional<double> number = real_number(given);
    const bool is_zero = number ? *number == 0 : truth_of(equal(given, 0));
    if (is_zero) throw ValueError("period must be a non-zero value");
    if (xp.size() != fp.size()) throw ValueError("fp and xp are not of the same length");
    const Argument period = number ? Argument(std::fabs(*number)) : Argument(absolute(given));
    x = remainder(x, period);
    xp = remainder(xp, period);
    const array order = argsort(xp);
    xp = xp(order);
    fp = fp(order);
    const auto before = slice(-1, none), after = slice(1);
    xp = concatenate({subtract(xp(before), period), xp, add(xp(after), period)});
    fp = concatenate({fp(before), fp, fp(after)});
}

}  // namespace

bool try_interpolate(const array& x, const array& xp, const array& fp, array& result) {
    int64_t stride = 0;
    const int64_t count = x.size(), itemsize = sizeof(double);
    if (!are_points(xp, fp) || x.ndim() == 0 || count == 0 || !is_small(count) ||
        !(x.dtype() == DType(kType)) || !single_stride(x, stride) || stride != itemsize)
        return false;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count * itemsize));
    std::vector<int64_t> places(static_cast<size_t>(count));
    StorageLocks locks;
    for (const array* each : {&x, &xp, &fp}) locks.add(*each->storage());
    locks.lock();
    if (!locks.all_host_resident()) return false;
    const Row from(xp), to(fp);
    const Ends<double, double> ends = ends_of(from, to);
    const char* const wanted = x.storage()->current.buffer->data() + x.offset();
    search_sorted(kType, from.data, from.stride, from.length, wanted, count, true, places.data());
    for (int64_t i = 0; i < count; ++i) {
        double place;
        std::memcpy(&place, wanted + i * itemsize, sizeof place);
        const double value = between(from, to, ends, place, places[static_cast<size_t>(i)]);
        std::memcpy(buffer->data() + i * itemsize, &value, sizeof value);
    }
    locks.unlock();
    result =
        array(make_storage(std::move(buffer)), kType, x.shape(), c_strides(x.shape(), itemsize), 0, true);
    return true;
}

bool try_interpolate(double x, const array& xp, const array& fp, double& result) {
    if (!are_points(xp, fp)) return false;
    StorageLocks locks;
    for (const array* each : {&xp, &fp}) locks.add(*each->storage());
    locks.lock();
    if (!locks.all_host_resident()) return false;
    const Row from(xp), to(fp);
    int64_t place = 0;
    search_sorted(kType, from.data, from.stride, from.length, reinterpret_cast<const char*>(&x), 1, true,
                  &place);
    result = between(from, to, ends_of(from, to), x, place);
    return true;
}

array interp(const array& x_given, const array& xp_given, const array& fp_given,
             const InterpolationOptions& options) {
    if (xp_given.ndim() != 1 || fp_given.ndim() != 1) throw ValueError("object too deep for desired array");
    array result;
    if (!options.left && !options.right && !options.period && !float_errors_watched() &&
        try_interpolate(x_given, xp_given, fp_given, result))
        return result;
    const auto as = [](const array& values, DType dtype) {
        return astype(values, dtype, 'K', Casting::kUnsafe, false);
    };
    for (const array* each : {&x_given, &xp_given}) {
        if (each->dtype().is_complex())
            throw TypeError("Cannot cast array data from dtype('" + std::string(each->dtype().name()) +
                            "') to dtype('float64') according to the rule 'safe'");
    }
    const DType type = fp_given.dtype().is_complex() ? ScalarType::kComplex128 : kType;
    array x = as(x_given, kType), xp = as(xp_given, kType), fp = as(fp_given, type);
    if (options.period) repeat(*options.period, x, xp, fp);
    if (xp.size() == 0) throw ValueError("array of sample points is empty");
    if (xp.size() != fp.size()) throw ValueError("fp and xp are not of the same length.");
    const auto end = [&](const std::optional<Argument>& given, int64_t position) {
        return given && !options.period ? from_argument(*given, type) : fp(position);
    };
    const Ends<array, array> ends{xp(0), xp(-1), end(options.left, 0), fp(-1), end(options.right, -1)};
    if (xp.size() == 1) {
        result = where(x == x, fp(0), fp(0));  // also where x is nan
        result = where(x < ends.first, ends.before, result);
        result = where(x > ends.last, ends.behind, result);
    } else {
        const array k = maximum(minimum(searchsorted(xp, x, true) - 1, xp.size() - 2), 0);
        const auto after = slice(1, none), before = slice(-1);
        const array slope = (fp(after) - fp(before)) / (xp(after) - xp(before));
        result = value_at<array, array>(x, as(x, type), {xp(k), xp(k + 1), fp(k), fp(k + 1), slope(k)}, ends);
    }
    return result.c_contiguous() ? result : copy(result, 'C');
}

}  // namespace weft
