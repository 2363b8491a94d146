// Random numbers as arrays: drawn at the call from a stream that the caller keeps (random/draw.h,
// random/draw_in_order.h). A draw that fails leaves the stream as it was.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "random/bit_source.h"
#include "random/draw_in_order.h"
#include "weft/array.h"

namespace weft {

enum class Distribution : uint8_t { kWords, kUniform, kNormal, kExponential, kExponentialByLog };

// On the current device. Words are uint64, the others float64 or float32.
array draw(const BitSource& source, Distribution distribution, const Dims& shape, DType dtype);
// In [low, low + range], as the dtype's bits.
array draw_integers(const BitSource& source, const Dims& shape, DType dtype, uint64_t low, uint64_t range,
                    Within within = Within::kByProducts);
// The same between bounds of their own: a number for each pair of `low` and `range`.
array draw_integers_between(const BitSource& source, const Dims& shape, DType dtype,
                            std::span<const uint64_t> low, std::span<const uint64_t> range,
                            Within within = Within::kByProducts);
// The positions 0 ... count - 1 in random order, int64; or several such rows, one drawn after another.
array draw_permutation(const BitSource& source, int64_t extent, std::optional<int64_t> rows = {});
// Different numbers below `population`, int64; see random/draw.h.
array draw_sample(const BitSource& source, int64_t population, int64_t count, bool shuffled);
// Positions in `odds`, a row of numbers whose sum is 1 as far as `tolerance`, int64; without `replace`
// different ones.
array draw_by_odds(const BitSource& source, const array& odds, const Dims& shape, bool replace,
                   double tolerance = 0x1p-26);
// A copy of an array whose rows along an axis are each in an order of their own; without an axis all is one
// row, in C order, or in F order where memory is so.
array draw_permuted(const BitSource& source, const array& x, std::optional<int64_t> axis);

}  // namespace weft
