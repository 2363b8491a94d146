// Counting in the host's memory: how often each small integer is there, on all threads. Work is cut by the
// number of elements alone, so that sums of weights do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>

namespace weft {

struct CountedRange {
    int64_t low = 0, high = -1;  // of the positions; nothing where there are none
};

CountedRange range_of_positions(std::span<const int64_t> positions);

// counts[p] += 1 for each position p, all of them in [0, counts.size()).
void count_positions(std::span<const int64_t> positions, std::span<int64_t> counts);

// sums[p] += the position's weight.
void add_weights(std::span<const int64_t> positions, const double* weights, std::span<double> sums);

}  // namespace weft
