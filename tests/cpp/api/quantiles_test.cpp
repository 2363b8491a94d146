// Medians and quantiles in C++. All methods and dtypes are tested beside NumPy in
// tests/python/numpy/test_distribution.py.
#include <gtest/gtest.h>

#include <cmath>

#include "support/array_testing.h"

namespace weft {
namespace {

const array& table() {
    static const array values = {{4.0, 1.0, 3.0}, {2.0, 8.0, 5.0}};
    return values;
}

TEST(Quantiles, MediansOfAxes) {
    expect_equal(median(table()), asarray(3.5));
    expect_equal(median(table(), 0), {3.0, 4.5, 4.0});
    expect_equal(median(table(), 1, {.keepdims = true}), {{3.0}, {5.0}});
    expect_equal(median(table(), {0, 1}, {.keepdims = true}), {{3.5}});
    expect_equal(median(array{3, 1, 2}), asarray(2.0));
    EXPECT_EQ(median(astype(table(), float32), 0).dtype(), float32);
    array out = zeros(2);
    EXPECT_TRUE(shares_memory(median(table(), 1, {.out = out}), out));
    expect_equal(out, {3.0, 5.0});
    EXPECT_THROW(median(table(), 2), AxisError);
    EXPECT_THROW(median(table(), {0, 0}), ValueError);
}

TEST(Quantiles, NanSpreadsOrIsLeftOut) {
    const array holes = {{4.0, kNan, 3.0}, {2.0, 8.0, kNan}, {kNan, kNan, kNan}};
    expect_equal(median(holes, 1), {kNan, kNan, kNan});
    expect_equal(nanmedian(holes, 1), {3.5, 5.0, kNan});
    expect_equal(nanmedian(holes), asarray(3.5));
    expect_equal(nanmedian(holes, {}, {.keepdims = true}), {{3.5}});
    expect_equal(nanquantile(holes, 0.5, 1), {3.5, 5.0, kNan});
    expect_equal(nanpercentile(holes, array{0, 100}), {2.0, 8.0});
    expect_equal(quantile(holes, 0.5, 0), {kNan, kNan, kNan});
    expect_equal(nanmedian(array{kNan}), asarray(kNan));
    expect_equal(nanquantile(array{kNan}, 0.5), asarray(kNan));
}

TEST(Quantiles, PartsAreNumbersOrArrays) {
    const array row = {1, 2, 3, 4};
    expect_equal(quantile(row, 0.5), asarray(2.5));
    expect_equal(percentile(row, array{0.0, 50.0, 100.0}), {1.0, 2.5, 4.0});
    expect_equal(quantile(row, array{{0.0, 1.0}, {0.5, 0.25}}), {{1.0, 4.0}, {2.5, 1.75}});
    expect_equal(quantile(table(), array{0.0, 1.0}, 1, {.keepdims = true}), {{{1.0}, {2.0}}, {{4.0}, {8.0}}});
    EXPECT_EQ(quantile(astype(table(), float32), 0.5).dtype(), float32);
    EXPECT_THROW(quantile(row, 1.5), ValueError);
    EXPECT_THROW(percentile(row, -1), ValueError);
    EXPECT_THROW(quantile(row, kNan), ValueError);
    EXPECT_THROW(quantile(empty(0), 0.5), IndexError);
    EXPECT_THROW(quantile(astype(row, complex128), 0.5), TypeError);
}

TEST(Quantiles, MethodsHaveNumPysNames) {
    const array row = {1.0, 2.0, 3.0, 4.0};
    const auto by = [&](std::string_view name) {
        return quantile(row, 0.4, {}, {.method = quantile_method(name)}).item<double>();
    };
    EXPECT_DOUBLE_EQ(by("linear"), 2.2);
    EXPECT_EQ(by("lower"), 2);
    EXPECT_EQ(by("higher"), 3);
    EXPECT_EQ(by("nearest"), 2);
    EXPECT_EQ(by("midpoint"), 2.5);
    EXPECT_EQ(by("inverted_cdf"), 2);
    EXPECT_EQ(by("averaged_inverted_cdf"), 2);
    EXPECT_EQ(by("closest_observation"), 2);
    EXPECT_DOUBLE_EQ(by("interpolated_inverted_cdf"), 1.6);
    EXPECT_DOUBLE_EQ(by("hazen"), 2.1);
    EXPECT_DOUBLE_EQ(by("weibull"), 2.0);
    EXPECT_DOUBLE_EQ(by("median_unbiased"), 2 + 1.0 / 15);
    EXPECT_DOUBLE_EQ(by("normal_unbiased"), 2.075);
    EXPECT_THROW(quantile_method("middle"), ValueError);
}

TEST(Quantiles, WeightsCountElements) {
    const QuantileOptions weighted{.method = QuantileMethod::kInvertedCdf, .weights = array{1, 0, 3}};
    expect_equal(quantile(array{1.0, 2.0, 3.0}, array{0.25, 0.3}, {}, weighted), {1.0, 3.0});
    expect_equal(quantile(table(), 0.25, 1, weighted), {3.0, 2.0});
    EXPECT_THROW(quantile(array{1.0, 2.0, 3.0}, 0.5, {}, {.weights = array{1, 0, 3}}), ValueError);
    EXPECT_THROW(quantile(array{1.0, 2.0}, 0.5, {}, weighted), TypeError);
    const QuantileOptions negative{.method = QuantileMethod::kInvertedCdf, .weights = array{1, -1, 3}};
    EXPECT_THROW(quantile(array{1.0, 2.0, 3.0}, 0.5, {}, negative), ValueError);
}

}  // namespace
}  // namespace weft
