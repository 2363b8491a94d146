// How values are distributed: histograms of one variable and of several. Counted at the call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weft/array.h"

namespace weft {

/// Bins: their number; a rule for it ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"); or
/// their edges, which rise.
using Bins = std::variant<int64_t, std::string, array>;
/// The lowest edge and the highest one.
using BinRange = std::optional<std::pair<double, double>>;

/// np.histogram_bin_edges: the edges of bins over an array's values, or over a range. Float64 for integers,
/// else of the array's dtype; given edges are what they are. Throws ValueError for less than one bin, for
/// edges that fall, for a range that is not finite, and for more bins than there are numbers.
///
///     histogram_bin_edges(array{1, 2, 2, 3, 5}, "sturges") is {1, 2, 3, 4, 5}
array histogram_bin_edges(const array& a, const Bins& bins = 10, const BinRange& range = {});

struct HistogramOptions {
    BinRange range = {};
    std::optional<array> weights = {};  // what each element counts, of the array's shape
    bool density = false;               // counts by the width of the bin and the sum of all
};

struct Histogram {
    array counts;  // int64; of the weights' dtype, or float64 for densities
    array edges;   // one more
};

/// np.histogram: how many elements are in each bin. The last bin has its right edge, too; NaN is in none.
///
///     histogram(array{1, 2, 1, 4}, 3).counts is {2, 1, 1}
Histogram histogram(const array& a, const Bins& bins = 10, const HistogramOptions& options = {});

struct HistogramOfSeveral {
    array counts;              // float64, an axis for each variable
    std::vector<array> edges;  // of each variable
};

/// np.histogramdd: how many rows of `sample`, a matrix with a column for each variable, are in each cell of a
/// grid. A number of bins or their edges for each variable; ranges for each, or none at all.
HistogramOfSeveral histogramdd(const array& sample, std::span<const Bins> bins,
                               std::span<const BinRange> ranges = {},
                               const std::optional<array>& weights = {}, bool density = false);
/// np.histogram2d: of two variables, whose values are side by side.
///
///     histogram2d(array{0.0, 1.0}, array{0.0, 1.0}, 2, 2).counts is {{1, 0}, {0, 1}}
HistogramOfSeveral histogram2d(const array& x, const array& y, const Bins& x_bins = 10,
                               const Bins& y_bins = 10, const std::optional<array>& weights = {},
                               bool density = false);

}  // namespace weft
