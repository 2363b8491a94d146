// Distributions of vectors, one after another into `out`.
#pragma once

#include <cstdint>
#include <span>

#include "random/bit_source.h"

namespace weft::distributions {

// How often each outcome comes in n trials: binomial numbers of what the outcomes before have left. `out` is
// zero.
void multinomial(Bits& bits, int64_t n, std::span<const double> odds, std::span<int64_t> out);
// RandomState's: by its own binomial numbers from NumPy 2.5 on, before by Generator's.
void legacy_multinomial(Bits& bits, int64_t n, std::span<const double> odds, std::span<int64_t> out);

// Gamma numbers by their sum; where all of `alpha` are below 0.1 the sum may be zero, and sticks are broken
// by beta numbers. `out` is zero.
void dirichlet(Bits& bits, std::span<const double> alpha, std::span<double> out);
void legacy_dirichlet(Bits& bits, std::span<const double> alpha, std::span<double> out);

// The colors of a sample: hypergeometric numbers of what is left, or the beginning of a shuffle of all. `out`
// is zero; the sample is no larger than the sum of the colors.
void hypergeometric_by_marginals(Bits& bits, std::span<const int64_t> colors, int64_t sample,
                                 std::span<int64_t> out);
void hypergeometric_by_count(Bits& bits, std::span<const int64_t> colors, int64_t sample,
                             std::span<int64_t> out);

}  // namespace weft::distributions
