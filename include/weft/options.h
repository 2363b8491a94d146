// What operations and reductions take besides their operands; named as NumPy's arguments:
// weft::sum(a, 0, {.keepdims = true}), weft::add(a, b, {.out = c, .where = mask}).
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>

#include "weft/array.h"

namespace weft {

struct OperationOptions {
    array out = {};                      // where the result is written; not given: a new array
    array second_out = {};               // of operations with two results
    std::optional<Argument> where = {};  // a boolean array; elsewhere `out` keeps its elements
    std::optional<DType> dtype = {};     // to compute in
    Casting casting = Casting::kSameKind;
    char order = 'K';
};

/// The axes of a reduction: none given means all; one; or a list, of which an empty one reduces nothing.
class Axes {
public:
    Axes() = default;
    template <std::integral T>
    Axes(T axis) : axes_(Dims{static_cast<int64_t>(axis)}) {}
    Axes(std::initializer_list<int64_t> axes) : axes_(Dims(axes)) {}
    Axes(const Dims& axes) : axes_(axes) {}

    const std::optional<Dims>& list() const { return axes_; }

private:
    std::optional<Dims> axes_;
};

struct ReductionOptions {
    std::optional<DType> dtype = {};
    bool keepdims = false;
    std::optional<Argument> initial = {};
    std::optional<Argument> where = {};
    array out = {};
};

}  // namespace weft
