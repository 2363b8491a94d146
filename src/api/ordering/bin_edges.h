// How bins are chosen (weft/histograms.h).
#pragma once

#include "weft/histograms.h"

namespace weft {

struct ChosenEdges {
    array edges;
    bool even = false;                    // of one width, between these
    double low = 0, high = 0, width = 0;  // as the elements' type has them, where they decide
    bool doubtful =
        false;  // whether the number may be too small: the rule "stone" found the largest it tried
};

// For elements in one dimension, none of them a bool.
ChosenEdges choose_edges(const array& a, const Bins& bins, const BinRange& range);

// What is counted, with the doubt about its edges.
struct DoubtfulHistogram {
    Histogram found;
    bool doubtful = false;
};
DoubtfulHistogram find_histogram(const array& a, const Bins& bins, const HistogramOptions& options);

// Throws ValueError for what is no name of a rule.
void check_rule(const std::string& rule);
// The range's ends, or the least and the greatest element; never equal.
std::pair<double, double> outer_edges(const array& a, const BinRange& range);
// In one dimension; bools as uint8.
array binned_elements(const array& a);

}  // namespace weft
