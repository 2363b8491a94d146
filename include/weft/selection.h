// Elements chosen by conditions or among several arrays, and elements written where conditions hold.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "weft/array.h"
#include "weft/ops.h"

namespace weft {

// ---- among several arrays ----

/// np.choose: at each place the element of the array choices[a] there; all arrays broadcast, and the result
/// has the dtype to which the choices promote. Throws TypeError where `a` has no integers, ValueError for no
/// choices and, unless the mode says otherwise, for a number that is no choice's.
///
///     choose(array{1, 0}, {array{1, 2}, array{10, 20}}) is {10, 2}
array choose(const array& a, std::span<const array> choices, TakeMode mode = TakeMode::kRaise,
             const array& out = {});
inline array choose(const array& a, std::initializer_list<array> choices, TakeMode mode = TakeMode::kRaise) {
    return choose(a, std::span<const array>(choices.begin(), choices.size()), mode);
}

/// np.select: at each place the element of the first choice whose condition is true there, else `otherwise`.
/// All broadcast, and the result has the dtype to which choices and `otherwise` promote. Throws ValueError
/// for no conditions and for another number of choices, TypeError for conditions that are no bools.
///
///     select({x < 2, x > 3}, {x, x * 10}, 7)
array select(std::span<const array> conditions, std::span<const Argument> choices,
             const Argument& otherwise = 0);
inline array select(std::initializer_list<array> conditions, std::initializer_list<Argument> choices,
                    const Argument& otherwise = 0) {
    return select(std::span<const array>(conditions.begin(), conditions.size()),
                  std::span<const Argument>(choices.begin(), choices.size()), otherwise);
}

/// A value for all elements, or a function that gets those it is for, as a row.
using PiecewiseFunction = std::variant<Argument, std::function<Argument(const array&)>>;

/// np.piecewise: each function's values where its condition is true, 0 where none is; the last condition that
/// holds decides. One function more than conditions stands for elsewhere. The result has the dtype of `x`.
/// Throws ValueError for other numbers of functions, IndexError for conditions of other shapes.
///
///     piecewise(x, {x < 0}, {0.0, [](const array& some) { return sqrt(some); }})
array piecewise(const array& x, std::span<const array> conditions,
                std::span<const PiecewiseFunction> functions);
inline array piecewise(const array& x, std::initializer_list<array> conditions,
                       std::initializer_list<PiecewiseFunction> functions) {
    return piecewise(x, std::span<const array>(conditions.begin(), conditions.size()),
                     std::span<const PiecewiseFunction>(functions.begin(), functions.size()));
}

// ---- where a condition holds ----

/// np.argwhere: the positions of elements that are not zero, a row for each, int64.
array argwhere(const array& a);
/// np.flatnonzero: the positions of elements of the flattened array that are not zero.
array flatnonzero(const array& a);
/// np.compress: the subarrays along an axis, or elements of the flattened array, at which `condition` is
/// true. It may be shorter than the axis. Throws ValueError for a condition that is no row, IndexError where
/// it is true beyond the axis.
///
///     compress(array{false, true}, array{{1, 2}, {3, 4}}, 0) is {{3, 4}}
array compress(const array& condition, const array& a, std::optional<int64_t> axis = {},
               const array& out = {});
/// np.extract: the elements, in C order, at which `condition` is true.
array extract(const array& condition, const array& arr);

// ---- written ----

/// np.place: writes `values`, one after another and over and over, to the elements at which `mask` is true.
/// Throws ValueError for a mask of another size, for no values, and for an array that is not for writing;
/// TypeError for values that do not become the array's dtype without loss.
void place(const array& target, const array& mask, const array& values);
/// np.putmask: writes `values` where `mask` is true: shorter ones over and over, counted along all elements.
/// Throws as place does.
void putmask(const array& target, const array& mask, const array& values);
/// np.put: writes `values`, over and over, to the elements of the flattened array at `indices`. Throws
/// IndexError before anything is written, TypeError for positions that are no integers, ValueError for an
/// array that is not for writing.
///
///     put(a, array{1, 2}, array{7, 8})
void put(const array& target, const array& indices, const array& values, TakeMode mode = TakeMode::kRaise);

}  // namespace weft
