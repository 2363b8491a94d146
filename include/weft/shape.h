// A shape as a caller writes it: {rows, columns} of any integer type, one extent, or a list that is at hand.
#pragma once

#include <concepts>
#include <initializer_list>
#include <ranges>

#include "weft/dims.h"

namespace weft {

class Shape : public Dims {
public:
    // So that {values.size(), 3} is no narrowing.
    struct Extent {
        template <std::integral T>
        Extent(T value) : value(static_cast<int64_t>(value)) {}
        int64_t value;
    };

    Shape() = default;  // of an array without dimensions
    Shape(const Dims& dims) : Dims(dims) {}
    Shape(std::initializer_list<Extent> extents) {
        for (const Extent& extent : extents) push_back(extent.value);
    }
    template <std::integral T>
    Shape(T extent) : Dims{static_cast<int64_t>(extent)} {}
    template <std::ranges::input_range R>
        requires(std::integral<std::ranges::range_value_t<R>> && !std::derived_from<R, Dims>)
    Shape(const R& extents) {
        for (const auto extent : extents) push_back(static_cast<int64_t>(extent));
    }
};

}  // namespace weft
