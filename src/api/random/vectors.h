// Distributions of vectors as arrays (random/distributions/vectors.h): one more axis than `size`.
#pragma once

#include <optional>

#include "api/random/distribution.h"
#include "weft/array.h"

namespace weft {

// Of counts in int64 and odds in float64 along the last axis, both of which broadcast. Throws ValueError for
// odds outside [0, 1], whose sum without the last one is above 1, and for negative counts.
array draw_multinomial(const BitSource& source, const array& n, const array& odds,
                       const std::optional<Dims>& size, bool legacy);
// Of a vector of float64, none below 0, or with `legacy` all above.
array draw_dirichlet(const Draws& from, const array& alpha, const Dims& size, bool legacy);
// The colors of a sample from so many of each color, a vector of int64 that is none below 0; by counting
// them, or one color after the other. Throws ValueError for a sample of more than there are.
array draw_colors(const BitSource& source, const array& colors, int64_t sample, const Dims& size,
                  bool by_count);

// How the covariance is taken apart; kLegacy is the way of RandomState.
enum class Factors : uint8_t { kSvd, kEigh, kCholesky, kLegacy };

// Normal vectors from rows of standard normal numbers, and whether the covariance is symmetric and has no
// negative eigenvalue, as far as `tolerance` (of which Cholesky's way does not ask). All are float64.
struct NormalVectors {
    array vectors;
    bool is_covariance = true;
};
NormalVectors normal_vectors(const array& rows, const array& mean, const array& cov, Factors factors,
                             double tolerance);

}  // namespace weft
