// The distributions of random/distributions/table.h as arrays: parameters that broadcast, and what they must
// be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "random/distributions/table.h"
#include "weft/array.h"

namespace weft {

// Where a distribution draws from. `spare` is what RandomState keeps; null for Generator.
struct Draws {
    const BitSource& source;
    SpareNormal* spare = nullptr;
};

// Throws ValueError, with NumPy's text, for numbers that are no parameters of it.
void check_numbers(const distributions::Distribution& distribution, const distributions::Numbers& numbers);

// Of checked numbers.
array draw_numbers(const Draws& from, const distributions::Distribution& distribution,
                   const distributions::Numbers& numbers, const Dims& shape);
// Of arrays of float64 or int64, as the parameters are. They are checked; without a shape it is what they
// broadcast to. Throws ValueError where they do not broadcast to the shape.
array draw_numbers(const Draws& from, const distributions::Distribution& distribution,
                   std::span<const array> parameters, const std::optional<Dims>& shape);

// Single precision, of which there is the gamma distribution alone.
array draw_standard_gamma32(const Draws& from, float shape, const Dims& size);
array draw_standard_gamma32(const Draws& from, const array& shape, const std::optional<Dims>& size);

// What check_numbers does with each element.
void check_elements(const distributions::Parameter& parameter, const array& values);
// As Python writes a tuple.
std::string tuple_text(const Dims& shape);
// The elements of an array of T in C order.
template <class T>
std::vector<T> elements_in_order(const array& values);

}  // namespace weft
