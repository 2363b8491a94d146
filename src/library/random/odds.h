// Positions that are drawn by the odds of each, as Generator.choice and RandomState.choice draw them.
#pragma once

#include <cstdint>
#include <span>

#include "random/bit_source.h"

namespace weft {

// As NumPy's checks add them up: compensated (Kahan, "Further remarks on reducing truncation errors", 1965).
double sum_of_odds(std::span<const double> odds);

// Throws ValueError for odds that do not add up to 1. Unless `replace`, no position comes twice.
void draw_by_odds(const BitSource& source, std::span<const double> odds, bool replace, double tolerance,
                  std::span<int64_t> positions);

}  // namespace weft
