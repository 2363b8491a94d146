// Histograms in the host's memory: elements of any real type are counted in bins, on all threads.
#pragma once

#include <cstdint>
#include <span>

#include "weft/dtype.h"

namespace weft {

// Side by side.
struct BinnedElements {
    ScalarType type = ScalarType::kFloat64;
    const char* data = nullptr;
    int64_t count = 0;
    const double* weights = nullptr;  // none: each counts 1
};

// Edges side by side, one more than bins. The last bin has its right edge, too.
struct BinEdges {
    ScalarType type = ScalarType::kFloat64;
    const char* data = nullptr;
    int64_t bins = 0;
    // Of bins of one width, in float32 or float64: what the edges were made from. `width` is that of all.
    bool even = false;
    double low = 0, high = 0, width = 0;
};

// Bins that `even` says are of one width are found by arithmetic in the edges' type, and put right by the
// edges; others are searched for in the type that both promote to, which is `common`.
void count_in_bins(const BinnedElements& elements, const BinEdges& edges, ScalarType common,
                   std::span<int64_t> counts);
// The sums of weights: blocks of 2^16 elements are added up by themselves, then their sums in order.
void add_in_bins(const BinnedElements& elements, const BinEdges& edges, ScalarType common,
                 std::span<double> sums);

}  // namespace weft
