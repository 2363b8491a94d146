// a(weft::slice(1, -1), weft::all): the indices of Python's square brackets in C++'s round ones, for reading
// and for writing. weft/ops.h has the functions below them.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

#include "weft/operations.h"
#include "weft/ops.h"

namespace weft {

/// An absent bound of a slice: slice(2, none) is Python's 2:.
inline constexpr std::nullopt_t none = std::nullopt;

using Bound = std::optional<int64_t>;

/// Python's slice(stop), slice(start, stop) and slice(start, stop, step).
inline Slice slice(Bound stop) { return {{}, stop, {}}; }
inline Slice slice(Bound start, Bound stop, Bound step = none) { return {start, stop, step}; }

inline constexpr NewAxis newaxis;
inline constexpr Ellipsis ellipsis;

/// As an index, all of an axis, Python's `:`. Called, the reduction of that name: weft::all(a > 0).
inline constexpr All all;

namespace indexing {

template <std::integral T>
    requires(!std::same_as<T, bool>)
Index to_index(T position) {
    return static_cast<int64_t>(position);
}
inline Index to_index(const Slice& slice) { return slice; }
inline Index to_index(All) { return Slice{}; }
inline Index to_index(NewAxis axis) { return axis; }
inline Index to_index(Ellipsis rest) { return rest; }
inline Index to_index(const array& positions) { return positions; }
template <ElementRange R>
Index to_index(const R& positions) {
    return array(positions);
}
inline Index to_index(const Index& index) { return index; }

template <class T>
concept AsIndex = requires(const T& index) { to_index(index); };

// Whether what an index of this type chooses is a view, whatever its value.
template <class T>
concept Basic = AsIndex<T> && !std::derived_from<T, array> && !ElementRange<T> && !std::same_as<T, Index>;

}  // namespace indexing

/// Elements of an array at computed positions, a(mask) or a(rows, weft::all): a copy where it is read as an
/// array, the elements themselves where it is written to. `auto x = a(mask)` names the choice, not the
/// elements; to keep these, write `weft::array x = a(mask)`.
class Selection {
public:
    Selection(array target, std::vector<Index> indices)
        : target_(std::move(target)), indices_(std::move(indices)) {}
    Selection(const Selection&) = default;

    array read() const { return index(target_, indices_); }
    operator array() const { return read(); }

    // Where arrays of integers name an element several times, it takes the last value.
    void operator=(const Argument& value) const { assign_at(target_, indices_, value); }
    void operator=(const Selection& value) const { assign_at(target_, indices_, value.read()); }

private:
    array target_;
    std::vector<Index> indices_;
};

template <class... Indices>
auto array::operator()(const Indices&... indices) const {
    static_assert(
        (indexing::AsIndex<Indices> && ...),
        "an index is an integer, weft::slice, weft::all, weft::newaxis, weft::ellipsis, or an array of "
        "integers or bools");
    if constexpr ((indexing::Basic<Indices> && ...)) {
        if constexpr (sizeof...(indices) == 0) {
            return weft::index(*this, {});
        } else {
            const Index list[] = {indexing::to_index(indices)...};
            return weft::index(*this, list);
        }
    } else {
        return Selection(*this, {indexing::to_index(indices)...});
    }
}

template <ElementType T, class... Indices>
T array::item(const Indices&... position) const {
    static_assert((std::integral<Indices> && ...), "the position of an element is a list of integers");
    if constexpr (sizeof...(position) == 0) {
        T value;
        read_item(*this, dtype_of<T>(), &value);
        return value;
    } else {
        return (*this)(position...).template item<T>();
    }
}

template <ElementType T>
array::operator T() const {
    if constexpr (std::same_as<T, bool>) {
        return truth_of(*this);
    } else {
        check_is_scalar(*this);
        return item<T>();
    }
}

}  // namespace weft
