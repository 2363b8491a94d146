// New arrays: from braces and containers, of other dtypes, of one value, and in steps. weft/ops.h has empty,
// full and linspace of two numbers.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "weft/ops.h"

namespace weft {

/// An array of what is one already, or a scalar: of int64, float64, complex128 or bool.
inline array asarray(const Argument& value, std::optional<DType> dtype = {}) {
    return from_argument(value, dtype);
}

/// np.ndarray.astype(dtype, casting="same_value"): the elements as `dtype`. Throws ValueError where one has
/// no equal there: a fraction for an integer type, a number out of its range, digits that a shorter float has
/// not, an imaginary part for a real type. NaN stays NaN between floats, and everything has its truth as
/// bool. The values are looked at, so the operand is computed at the call.
///
///     astype_same_value(array{1.0, 2.0}, ScalarType::kInt8) is {1, 2}; of array{1.5} it throws
array astype_same_value(const array& input, DType dtype, char order = 'K', bool copy = true);

inline array zeros(const Shape& shape, DType dtype = {}, char order = 'C') {
    return full(shape, false, dtype, order);
}
inline array ones(const Shape& shape, DType dtype = {}, char order = 'C') {
    return full(shape, true, dtype, order);
}
/// In the layout and dtype of `prototype`.
array zeros_like(const array& prototype, std::optional<DType> dtype = {});
array ones_like(const array& prototype, std::optional<DType> dtype = {});
array full_like(const array& prototype, const Argument& value, std::optional<DType> dtype = {});

/// 0, 1, ... to before `stop`; of int64 where all bounds are integers.
inline array arange(const Argument& stop, std::optional<DType> dtype = {}) {
    return arange(Integer(0), stop, Integer(1), dtype);
}
inline array arange(const Argument& start, const Argument& stop) { return arange(start, stop, Integer(1)); }

struct LinspaceOptions {
    bool endpoint = true;             // whether the last of the numbers is `stop`
    std::optional<DType> dtype = {};  // absent: that of the ends, float64 at least; integers round down
    int64_t axis = 0;                 // of the result, along which the numbers lie
};

/// np.linspace: `count` numbers from `start` to `stop`, evenly spaced. Arrays broadcast; the numbers between
/// each two elements lie along a new axis. Throws ValueError for a negative count, AxisError for an axis that
/// the result does not have.
///
///     linspace(array{0.0, 10.0}, 20.0, 3) is {{0, 10}, {10, 15}, {20, 20}}
array linspace(const Argument& start, const Argument& stop, int64_t count = 50,
               const LinspaceOptions& options = {});
/// The same, and how far neighbours are from each other: nan where there are none.
std::pair<array, array> linspace_with_step(const Argument& start, const Argument& stop, int64_t count = 50,
                                           const LinspaceOptions& options = {});

/// np.logspace: powers of `base`, whose exponents linspace makes. Bases of several elements lie along a new
/// axis, as the ends do. Throws as linspace does.
///
///     logspace(0, 2, 3) is {1, 10, 100}
array logspace(const Argument& start, const Argument& stop, int64_t count = 50, const Argument& base = 10.0,
               const LinspaceOptions& options = {});

/// np.geomspace: `count` numbers from `start` to `stop`, each the same multiple of the one before; complex
/// ones lie on a spiral. Throws as linspace does, and ValueError where an end is zero.
///
///     geomspace(1, 1000, 4) is {1, 10, 100, 1000}
array geomspace(const Argument& start, const Argument& stop, int64_t count = 50,
                const LinspaceOptions& options = {});

/// Ones on the main diagonal of a square matrix.
inline array eye(int64_t rows, DType dtype = {}) { return eye(rows, rows, 0, dtype); }

/// np.tril: a copy with zeros above diagonal `k` of the last two axes; of a row, of as many of it below each
/// other. A `k` between two integers counts as the lower one. Throws TypeError for an array without axes.
///
///     tril(array{{1, 2}, {3, 4}}) is {{1, 0}, {3, 4}}
array tril(const array& input, double k = 0);
/// np.triu: a copy with zeros below diagonal `k` of the last two axes.
array triu(const array& input, double k = 0);

namespace creation {

// Copies `count` elements into a new array; one extent of the shape may be -1.
array from_elements(const void* elements, size_t count, DType dtype, const Shape& shape);
// Another's memory as an array.
array over_elements(void* elements, size_t count, DType dtype, const Shape& shape, bool writeable,
                    std::function<void()> release);
// Throw TypeError for another dtype, ValueError for elements that do not lie one after the other in C order.
void check_dtype(const array& input, DType dtype);
void check_elements(const array& input, DType dtype);

template <class T>
constexpr bool is_literal_int = std::same_as<T, int>;

template <ElementType T>
array from_list(const std::vector<T>& values, const Shape& shape) {
    array made;
    if constexpr (std::same_as<T, bool>) {
        const auto bytes = std::make_unique<bool[]>(values.size() + 1);
        std::copy(values.begin(), values.end(), bytes.get());
        made = from_elements(bytes.get(), values.size(), dtype_of<T>(), shape);
    } else {
        made = from_elements(values.data(), values.size(), dtype_of<T>(), shape);
    }
    return is_literal_int<T> ? astype(made, ScalarType::kInt64) : made;
}

// The extent that all rows have. Throws ValueError for rows of different lengths.
template <class Rows>
int64_t common_size(const Rows& rows) {
    size_t size = rows.size() == 0 ? 0 : rows.begin()->size();
    for (const auto& row : rows) {
        if (row.size() != size) throw ValueError("the rows of an array have different lengths");
    }
    return static_cast<int64_t>(size);
}

}  // namespace creation

template <ElementType T>
array::array(std::initializer_list<T> values)
    : array(creation::from_list(std::vector<T>(values), {values.size()})) {}

template <ElementType T>
array::array(std::initializer_list<std::initializer_list<T>> rows) {
    const int64_t columns = creation::common_size(rows);
    std::vector<T> values;
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    *this = creation::from_list(values, {static_cast<int64_t>(rows.size()), columns});
}

template <ElementType T>
array::array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks) {
    const int64_t rows = creation::common_size(blocks);
    int64_t columns = -1;
    std::vector<T> values;
    for (const auto& block : blocks) {
        const int64_t own = creation::common_size(block);
        if (columns >= 0 && own != columns) throw ValueError("the rows of an array have different lengths");
        columns = own;
        for (const auto& row : block) values.insert(values.end(), row.begin(), row.end());
    }
    *this = creation::from_list(values,
                                {static_cast<int64_t>(blocks.size()), rows, std::max<int64_t>(columns, 0)});
}

template <ElementRange R>
array::array(const R& values) : array(values, {std::ranges::size(values)}) {}

template <ElementRange R>
array::array(const R& values, const Shape& shape)
    : array(creation::from_elements(std::ranges::data(values), std::ranges::size(values),
                                    dtype_of<std::ranges::range_value_t<R>>(), shape)) {}

}  // namespace weft
