// Arrays put together, taken apart, turned around and padded: what weft/ops.h has with spans and options, as
// it is written by hand, and what is made of these.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "weft/ops.h"

namespace weft {

/// The arrays one after the other along an axis; without one they are flattened first.
inline array concatenate(std::initializer_list<array> inputs, std::optional<int64_t> axis = 0) {
    return concatenate(std::span<const array>(inputs.begin(), inputs.size()), axis, {}, Casting::kSameKind,
                       {});
}
inline array concatenate(const std::vector<array>& inputs, std::optional<int64_t> axis = 0) {
    return concatenate(inputs, axis, {}, Casting::kSameKind, {});
}
/// The arrays side by side along a new axis.
inline array stack(std::initializer_list<array> inputs, int64_t axis = 0) {
    return stack(std::span<const array>(inputs.begin(), inputs.size()), axis, {}, Casting::kSameKind, {});
}
inline array stack(const std::vector<array>& inputs, int64_t axis = 0) {
    return stack(inputs, axis, {}, Casting::kSameKind, {});
}

/// The axes in the opposite order, or in one that is given.
inline array transpose(const array& input) { return transpose(input, std::span<const int64_t>{}); }
inline array transpose(const array& input, std::initializer_list<int64_t> axes) {
    return transpose(input, std::span<const int64_t>(axes.begin(), axes.size()));
}
inline array squeeze(const array& input) { return squeeze(input, std::nullopt); }
inline array flip(const array& input) { return flip(input, std::nullopt); }
inline array diagonal(const array& input, int64_t offset = 0) { return diagonal(input, offset, 0, 1); }

/// The elements moved along axes, those beyond the end to the front: `shifts[k]` places along `axes[k]`,
/// which may be negative; an axis may come several times. The result has the input's shape and dtype. Throws
/// ValueError where there are not as many shifts as axes, and AxisError where the input has no such axis. The
/// result is no array in memory where a kernel reads it: `roll(u, 1, 0) + roll(u, -1, 0)` reads `u` twice.
array roll(const array& input, std::span<const int64_t> shifts, std::span<const int64_t> axes);
array roll(const array& input, int64_t shift, int64_t axis);
/// Along all of the array, as if it were flat.
array roll(const array& input, int64_t shift);

/// np.rot90: a view turned by 90 degrees, `k` times, from the first of two axes towards the second. Throws
/// ValueError for axes that are equal or that the array has not.
///
///     rot90(array{{1, 2}, {3, 4}}) is {{2, 4}, {1, 3}}
array rot90(const array& m, int64_t k = 1, std::array<int64_t, 2> axes = {0, 1});

// ---- parts ----

/// np.array_split: views of parts along an axis: so many, as even as can be, the longer ones first; or parts
/// that end where `ends` say, as slices do, and one behind them. Throws ValueError for no parts, and for an
/// axis that the array has not IndexError.
///
///     array_split(array{1, 2, 3}, 2) is {1, 2} and {3}
std::vector<array> array_split(const array& ary, int64_t sections, int64_t axis = 0);
std::vector<array> array_split(const array& ary, std::span<const int64_t> ends, int64_t axis = 0);
/// np.split: the same, but ValueError where that many parts are not equally long.
std::vector<array> split(const array& ary, int64_t sections, int64_t axis = 0);
/// np.unstack: views of the subarrays along an axis. Throws ValueError for an array without axes, AxisError.
std::vector<array> unstack(const array& x, int64_t axis = 0);

// ---- copies ----

/// np.repeat: each element `count` times along an axis; without one the array is flattened first. Throws
/// ValueError for a negative count, AxisError.
///
///     repeat(array{1, 2}, 2) is {1, 1, 2, 2}
array repeat(const array& a, int64_t count, std::optional<int64_t> axis = {});
/// The same, as often as its own number says: a row of integers, as long as the axis, or one number. Throws
/// TypeError for numbers that are no integers, ValueError for negative ones and for another number of them.
///
///     repeat(array{1, 2, 3}, array{0, 1, 2}) is {2, 3, 3}
array repeat(const array& a, const array& counts, std::optional<int64_t> axis = {});

/// np.tile: the array over and over, so many times along each of its last axes, or along new ones before
/// them. Throws ValueError for negative numbers.
///
///     tile(array{1, 2}, 2) is {1, 2, 1, 2}
array tile(const array& a, const Shape& reps);

/// np.resize: the elements in C order in another shape, over and over where it is larger. Of no elements
/// zeros. Throws ValueError for a negative extent.
///
///     resize(array{1, 2, 3}, {2, 2}) is {{1, 2}, {3, 1}}
array resize(const array& a, const Shape& new_shape);

/// np.append: `values` behind `arr` along an axis; without one both are flattened. Throws as concatenate
/// does.
array append(const array& arr, const array& values, std::optional<int64_t> axis = {});

/// np.insert: a copy with `values` before the places along an axis that a position, a slice, an array of
/// positions or one of bools names; without an axis the array is flattened. Values broadcast; for one
/// position they may be several. Several values at one place stay in their order. Throws IndexError for
/// positions beyond the axis' end, AxisError.
///
///     insert(array{1, 2, 3}, 1, 9) is {1, 9, 2, 3}
array insert(const array& arr, const Index& obj, const Argument& values, std::optional<int64_t> axis = {});
/// np.delete: a copy without the subarrays that are named. Throws IndexError for positions beyond the axis,
/// ValueError for another number of bools than the axis is long, AxisError.
///
///     delete_(array{10, 20, 30}, 1) is {10, 30}
array delete_(const array& arr, const Index& obj, std::optional<int64_t> axis = {});

/// Arrays in nested lists: one array, or a list of such.
class Block {
public:
    Block(array only) : only_(std::move(only)) {}
    Block(std::vector<Block> parts) : parts_(std::move(parts)) {}
    Block(std::initializer_list<Block> parts) : parts_(parts) {}

    const array* only() const { return only_.valid() ? &only_ : nullptr; }
    const std::vector<Block>& parts() const { return parts_; }

private:
    array only_;
    std::vector<Block> parts_;
};

/// np.block: the innermost lists joined along the last axis, those around them along the one before, and so
/// on. Throws ValueError for an empty list and for lists that are not equally deep, and as concatenate does.
///
///     block({{eye(2), zeros({2, 1})}, {ones({1, 3})}}) is {{1, 0, 0}, {0, 1, 0}, {1, 1, 1}}
array block(const Block& arrays);

/// np.trim_zeros: a view without the zeros at the front and at the back of axes, or of all of them. Throws
/// AxisError.
///
///     trim_zeros(array{0, 1, 0, 2, 0}) is {1, 0, 2}
array trim_zeros(const array& filt, bool front, bool back, std::span<const int64_t> axes);
array trim_zeros(const array& filt, bool front = true, bool back = true);

// ---- what is put around an array ----

enum class PadMode {
    kConstant,    // `values`
    kEdge,        // the element at the edge
    kLinearRamp,  // from the edge to `values`
    kMaximum,     // of the `lengths` elements next to the edge
    kMean,
    kMedian,
    kMinimum,
    kReflect,    // the mirror image, without the edge
    kSymmetric,  // with the edge
    kWrap,       // the elements at the other end
    kEmpty,      // whatever is there
};

/// Elements before and behind an axis.
struct PadWidth {
    int64_t before = 0, after = 0;
};

struct PadOptions {
    PadMode mode = PadMode::kConstant;
    // Of each axis, before it and behind it; one pair serves all axes, none is 0.
    std::vector<std::array<Argument, 2>> values = {};
    // Likewise; none, or no number, is the whole axis.
    std::vector<std::array<std::optional<int64_t>, 2>> lengths = {};
    bool odd = false;  // mirror images are turned round the edge: 2 * edge - element
};

/// np.pad: the array with more elements around it; one width serves all axes. The result has a's dtype, and
/// its order of axes where that is Fortran's. Throws ValueError for other numbers of widths than axes, for
/// negative ones, for an empty axis that is to be continued, and for maxima and minima of no elements.
///
///     pad(array{1, 2, 3}, {{2, 1}}, {.mode = PadMode::kReflect}) is {3, 2, 1, 2, 3, 2}
array pad(const array& a, const std::vector<PadWidth>& widths, const PadOptions& options = {});

// ---- positions and order ----

inline array take(const array& input, const array& indices, std::optional<int64_t> axis = {}) {
    return take(input, indices, axis, TakeMode::kRaise);
}
inline array sort(const array& input) { return sort(input, -1); }
inline array argsort(const array& input) { return argsort(input, -1); }
inline array searchsorted(const array& sorted, const array& values) {
    return searchsorted(sorted, values, false);
}

/// What is pending for the array is computed now.
inline void eval(const array& input) { eval(std::span<const array>(&input, 1)); }
inline std::string explain(const array& input) { return explain(std::span<const array>(&input, 1)); }

}  // namespace weft
