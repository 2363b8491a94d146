// Slopes by differences: of the second order of the distance inside, at the ends of the order that is asked
// for.
#include <algorithm>
#include <vector>

#include "api/recording/part_of_axis.h"
#include "core/shape.h"
#include "graph/operand.h"
#include "weft/assembly.h"
#include "weft/calculus.h"
#include "weft/indexing.h"

namespace weft {

namespace {

// The distances between coordinates: one number where they are all alike.
Argument distances_of(const Argument& given, int64_t extent) {
    array coordinates = from_argument(given);
    if (coordinates.ndim() == 0) return given;
    if (coordinates.ndim() != 1) throw ValueError("distances must be either scalars or 1d");
    if (coordinates.size() != extent)
        throw ValueError("when 1d, distances must match the length of the corresponding dimension");
    if (coordinates.dtype().is_integer()) coordinates = astype(coordinates, ScalarType::kFloat64);
    array distances = diff(coordinates);
    if (distances.size() == 0) return distances;
    const array first = place_of_axis(distances, 0, 0);
    return truth_of(all(equal(distances, first))) ? first : distances;
}

class Slope {
public:
    Slope(const array& f, int axis, const array& step)
        : f_(f), axis_(axis), extent_(f.shape()[static_cast<size_t>(axis)]), step_(step) {}

    array of_order(int64_t edge_order) const {
        array result = empty_like(f_, {}, 'K', {}, {});
        const bool is_even = step_.ndim() == 0;
        assign(part_of_axis(result, axis_, 1, extent_ - 2), is_even ? inner_of_even() : inner());
        const array first = place_of_axis(result, axis_, 0), last = place_of_axis(result, axis_, -1);
        if (edge_order == 1) {
            assign(first, divide(subtract(at(1), at(0)), step(0)));
            assign(last, divide(subtract(at(-1), at(-2)), step(-1)));
        } else if (is_even) {
            const array low = add(multiply(-1.5, at(0)), multiply(2.0, at(1)));
            assign(first, divide(subtract(low, multiply(0.5, at(2))), step_));
            const array high = subtract(multiply(0.5, at(-3)), multiply(2.0, at(-2)));
            assign(last, divide(add(high, multiply(1.5, at(-1))), step_));
        } else {
            assign(first, begin());
            assign(last, end());
        }
        return result;
    }

private:
    array at(int64_t place) const { return place_of_axis(f_, axis_, place); }
    // So many places of `f` as are inside, from a place on.
    array from(int64_t place) const { return part_of_axis(f_, axis_, place, extent_ - 2); }
    array step(int64_t place) const { return step_.ndim() == 0 ? step_ : place_of_axis(step_, 0, place); }

    array inner_of_even() const { return divide(subtract(from(2), from(0)), multiply(2.0, step_)); }

    array inner() const {
        Dims along(f_.shape().size(), 1);
        along[static_cast<size_t>(axis_)] = -1;
        const array before = reshape(all_but_last(step_, 0), along);
        const array after = reshape(all_but_first(step_, 0), along);
        const array a = divide(negative(after), multiply(before, add(before, after)));
        const array b = divide(subtract(after, before), multiply(before, after));
        const array c = divide(before, multiply(after, add(before, after)));
        return add(add(multiply(a, from(0)), multiply(b, from(1))), multiply(c, from(2)));
    }

    array begin() const {
        const array p = step(0), q = step(1), both = add(p, q);
        const array a = divide(negative(add(multiply(2, p), q)), multiply(p, both));
        const array b = divide(both, multiply(p, q));
        const array c = divide(p, multiply(q, both));
        return subtract(add(multiply(a, at(0)), multiply(b, at(1))), multiply(c, at(2)));
    }

    array end() const {
        const array p = step(-2), q = step(-1);
        const array a = divide(q, multiply(p, add(p, q)));
        const array b = divide(add(q, p), multiply(p, q));
        const array c = divide(add(multiply(2, q), p), multiply(q, add(p, q)));
        return add(subtract(multiply(a, at(-3)), multiply(b, at(-2))), multiply(c, at(-1)));
    }

    const array& f_;
    int axis_;
    int64_t extent_;
    const array& step_;
};

}  // namespace

std::vector<array> gradient(const array& f, std::span<const Argument> spacing,
                            const GradientOptions& options) {
    std::vector<int> axes;
    if (options.axis.list()) {
        for (const int64_t axis : *options.axis.list()) {
            axes.push_back(normalize_axis(axis, f.ndim()));
            if (std::count(axes.begin(), axes.end(), axes.back()) > 1) throw ValueError("repeated axis");
        }
    } else {
        for (int axis = 0; axis < f.ndim(); ++axis) axes.push_back(axis);
    }
    std::vector<Argument> steps;
    if (spacing.empty()) {
        steps.assign(axes.size(), 1.0);
    } else if (spacing.size() == 1 && from_argument(spacing[0]).ndim() == 0) {
        steps.assign(axes.size(), spacing[0]);
    } else if (spacing.size() == axes.size()) {
        for (size_t k = 0; k < axes.size(); ++k)
            steps.push_back(distances_of(spacing[k], f.shape()[static_cast<size_t>(axes[k])]));
    } else {
        throw TypeError("invalid number of arguments");
    }
    if (options.edge_order > 2) throw ValueError("'edge_order' greater than 2 not supported");
    const DType dtype = f.dtype().is_inexact() ? f.dtype() : DType(ScalarType::kFloat64);
    const array values = astype(f, dtype, 'K', Casting::kUnsafe, false);
    // A row's ends are numbers, which are computed at the call.
    if (values.ndim() == 1) eval(values);
    std::vector<array> results;
    for (size_t k = 0; k < axes.size(); ++k) {
        if (f.shape()[static_cast<size_t>(axes[k])] < options.edge_order + 1) {
            throw ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
                "elements are required.");
        }
        results.push_back(Slope(values, axes[k], from_argument(steps[k])).of_order(options.edge_order));
    }
    return results;
}

}  // namespace weft
