// Whole numbers of a range by a product, of which too low ones are refused: a method of parallel_draw.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/parallel_draw.h"

namespace weft {

template <class Method, class Source>
typename Method::Value draw_one(Source& generator, const Method& method) {
    typename Method::Value value{};
    while (!attempt(method, generator, value)) {
    }
    return value;
}

// low and a number of [0, range], which is not all numbers; Product: an integer of twice the unit's bits.
template <class Draw, class Product, class Result = Draw>
struct Bounded {
    using Unit = Draw;
    using Value = Result;
    static constexpr bool kHasWedges = false;

    Bounded(Result from, Draw range)
        : low(from),
          count(static_cast<Draw>(range + 1)),
          least(static_cast<Draw>((static_cast<Draw>(-1) - range) % (Product{range} + 1))) {}

    bool takes(Draw unit, Result& value) const {
        const auto product = static_cast<Product>(static_cast<Product>(unit) * count);
        value = static_cast<Result>(low + static_cast<Result>(product >> (8 * sizeof(Draw))));
        return static_cast<Draw>(product) >= least;
    }

    size_t run(const Draw* units, size_t number, Result* out) const {
        size_t i = 0;
        while (i < number && takes(units[i], out[i])) ++i;
        return i;
    }

    Result low;
    Draw count, least;
};

}  // namespace weft
