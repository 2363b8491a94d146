// Histograms in C++. Values are tested beside NumPy in tests/python/numpy/test_distribution.py.
#include <gtest/gtest.h>

#include <cmath>

#include "support/array_testing.h"

namespace weft {
namespace {

TEST(Histograms, BinsOfOneWidth) {
    for (const DType dtype : {int64, uint8, float64, float32, float16}) {
        const array a = astype(array{1, 2, 1, 4}, dtype);
        const Histogram found = histogram(a, 3);
        expect_equal(found.counts, {2, 1, 1});
        const DType edges = dtype.is_floating() ? dtype : DType(float64);
        expect_equal(found.edges, astype(array{1.0, 2.0, 3.0, 4.0}, edges));
    }
    expect_equal(histogram(array{0.0, 0.5, kNan, 3.0}, 2, {.range = std::pair(0.0, 1.0)}).counts, {1, 1});
    expect_equal(histogram(array{true, false, true}, 2).counts, {1, 2});
    expect_equal(histogram(array{7.0}, 1).edges, {6.5, 7.5});
    expect_equal(histogram(empty(0), 2).counts, {0, 0});
}

TEST(Histograms, GivenEdges) {
    const array edges = {0, 1, 1, 4}, x = {0.0, 1.0, 3.0, 4.0, 5.0, -1.0};
    expect_equal(histogram(x, edges).counts, {1, 0, 3});
    expect_equal(histogram(array{1.0, kNan}, array{0, 1}).counts, array{1});
    expect_equal(histogram(x, array{0}).counts, zeros(0, int64));
    EXPECT_THROW(histogram(x, array{1, 0}), ValueError);
    EXPECT_THROW(histogram(x, array{{1, 0}}), ValueError);
}

TEST(Histograms, WeightsAndDensities) {
    const array x = {0.0, 1.0, 2.0, 2.0};
    expect_equal(histogram(x, 2, {.weights = array{1.0, 2.0, 0.5, 0.25}}).counts, {1.0, 2.75});
    expect_equal(histogram(x, 2, {.weights = array{1, 2, 3, 4}}).counts, {1, 9});
    const array imaginary = multiply(array{1.0, 2.0, 3.0, 4.0}, std::complex<double>(0, 1));
    expect_equal(imag(histogram(x, array{0, 1, 2}, {.weights = imaginary}).counts), {1.0, 9.0});
    expect_equal(histogram(x, 2, {.density = true}).counts, {0.25, 0.75});
    EXPECT_THROW(histogram(x, 2, {.weights = array{1}}), ValueError);
    EXPECT_THROW(histogram(x, "auto", {.weights = x}), TypeError);
}

TEST(Histograms, RulesChooseTheNumber) {
    const array x = arange(1000) / 100.0;
    for (const auto& [rule, count] :
         {std::pair("sturges", 11), std::pair("sqrt", 32), std::pair("rice", 20), std::pair("scott", 10),
          std::pair("fd", 10), std::pair("auto", 11), std::pair("doane", 11)})
        EXPECT_EQ(histogram_bin_edges(x, rule).size() - 1, count) << rule;
    EXPECT_THROW(histogram_bin_edges(x, "best"), ValueError);
}

TEST(Histograms, RangesAreChecked) {
    const array x = {1.0, 2.0};
    EXPECT_THROW(histogram(x, 0), ValueError);
    EXPECT_THROW(histogram(x, 2, {.range = std::pair(2.0, 1.0)}), ValueError);
    EXPECT_THROW(histogram(x, 2, {.range = std::pair(kNan, 1.0)}), ValueError);
    EXPECT_THROW(histogram(array{1.0, kNan}, 2), ValueError);
    EXPECT_THROW(histogram(array{1.0, std::nextafter(1.0, 2.0)}, 10), ValueError);
}

// More than a block, on all threads: the counts of a search, and weights' sums by blocks.
TEST(Histograms, ManyElements) {
    random::Generator rng(3);
    const array x = rng.standard_normal({300'000}), weights = rng.random({300'000});
    const array edges = linspace(-3.0, 3.0, 31);
    const Histogram even = histogram(x, 30, {.range = std::pair(-3.0, 3.0)});
    const array place = digitize(x, edges);
    for (const int64_t bin : {0, 7, 29})
        EXPECT_EQ(even.counts(bin).item<int64_t>(), count_nonzero(place == bin + 1).item<int64_t>());
    expect_equal(histogram(x, edges).counts, even.counts);
    const array sums = histogram(x, edges, {.weights = weights}).counts;
    expect_equal(sums, histogram(x, 30, {.range = std::pair(-3.0, 3.0), .weights = weights}).counts);
    EXPECT_NEAR(sum(sums).item<double>(), sum(weights * (abs(x) < 3.0)).item<double>(), 1e-6);
    const Histogram many = histogram(x, 100'000);
    EXPECT_EQ(sum(many.counts).item<int64_t>(), 300'000);
}

TEST(Histograms, OfSeveralVariables) {
    expect_equal(histogram2d(array{0.0, 1.0}, array{0.0, 1.0}, 2, 2).counts, {{1.0, 0.0}, {0.0, 1.0}});
    const array sample = {{0, 0}, {1, 5}, {1, 5}, {9, 9}};
    const Bins bins[] = {2, array{0, 4, 6}};
    const BinRange ranges[] = {std::pair(0.0, 2.0), {}};
    const HistogramOfSeveral found = histogramdd(sample, bins, ranges);
    expect_equal(found.counts, {{1.0, 0.0}, {0.0, 2.0}});
    expect_equal(found.edges[0], {0.0, 1.0, 2.0});
    expect_equal(histogramdd(sample, bins, ranges, array{1, 2, 3, 4}).counts, {{1.0, 0.0}, {0.0, 5.0}});
    EXPECT_DOUBLE_EQ(histogramdd(sample, bins, ranges, {}, true).counts(1, 1).item<double>(), 1.0 / 3);
    EXPECT_THROW(histogramdd(sample, std::span(bins, 1)), ValueError);
    EXPECT_THROW(histogram2d(array{1}, array{1, 2}), ValueError);
}

}  // namespace
}  // namespace weft
