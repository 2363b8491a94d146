// Means and variances: what C++ users have of their options. Values are tested beside NumPy in
// tests/python/numpy/test_reductions.py.
#include <gtest/gtest.h>

#include <limits>

#include "support/array_testing.h"

namespace weft {
namespace {

const array& table() {
    static const array values = {{1.0, 2.0, 3.0}, {4.0, 6.0, 11.0}};
    return values;
}

TEST(Statistics, MeansTakeMasksAndKeepAxes) {
    const array mask = {{true, false, true}, {true, true, false}};
    expect_equal(mean(table(), 1, {.keepdims = true}), {{2.0}, {7.0}});
    expect_equal(mean(table(), 1, {.keepdims = true, .where = mask}), {{2.0}, {5.0}});
    expect_equal(mean(table(), {}, {.where = mask}), asarray(3.5));
    expect_equal(mean(table(), 0, {.where = array{true, false, true}})(array{0, 2}), {2.5, 7.0});
}

TEST(Statistics, MeansHaveNumPysTypes) {
    EXPECT_EQ(mean(array{1, 2}).dtype(), float64);
    EXPECT_EQ(mean(array{true, false}).item<double>(), 0.5);
    const array halves = astype(full({3000}, 100.0), float16);  // whose sum float16 does not hold
    EXPECT_EQ(mean(halves).dtype(), float16);
    EXPECT_EQ(astype(mean(halves), float64).item<double>(), 100.0);
    expect_equal(mean(array{1, 2, 4}, {}, {.dtype = int64}), asarray(2));
    EXPECT_EQ(mean(astype(array{1.0, 2.0}, float32), {}, {.where = array{true, false}}).dtype(), float32);
}

TEST(Statistics, VariancesTakeMasksAndKeepAxes) {
    expect_equal(var(table(), 1, 0, {.keepdims = true}), var(table(), 1)(all, newaxis));
    const array mask = {{true, false, true}, {true, true, false}};
    expect_equal(var(table(), 1, 0, {.keepdims = true, .where = mask}), {{1.0}, {1.0}});
    expect_equal(var(table(), 1, 1, {.where = mask}), {2.0, 2.0});
    expect_equal(std(table(), 1, 0, {.where = mask}), {1.0, 1.0});
    array out = zeros(2);
    EXPECT_TRUE(shares_memory(var(table(), 1, 0, {.where = mask, .out = out}), out));
    expect_equal(out, {1.0, 1.0});
}

TEST(Statistics, OutputsAreNotBroadcastTo) {
    array out = zeros(3);
    EXPECT_THROW(var(table(), {}, 0, {.out = out}), ValueError);
    EXPECT_THROW(std(table(), 1, 0, {.out = out}), ValueError);
    EXPECT_THROW(mean(table(), {}, {.out = out}), ValueError);
    expect_equal(out, zeros(3));
}

TEST(Statistics, DegreesOfFreedomAreNumbersOrArrays) {
    const array row = {1.0, 2.0, 3.0, 6.0};
    expect_equal(var(row, {}, 0), asarray(3.5));
    expect_equal(var(row, {}, 0.5), asarray(4.0));
    expect_equal(var(row, {}, array{0, 2}), {3.5, 7.0});
    expect_equal(var(row, {}, 7), asarray(std::numeric_limits<double>::infinity()));
    expect_equal(var(table(), 1, array{0, 1}),
                 concatenate({var(table()(slice(1)), 1, 0), var(table()(slice(1, none)), 1, 1)}));
}

TEST(Statistics, AKnownMeanIsTaken) {
    const array row = {1.0, 2.0, 3.0, 6.0};
    expect_equal(var(row, {}, 0, {.mean = 0}), asarray(12.5));
    const array means = mean(table(), 1, {.keepdims = true});
    EXPECT_NEAR(max(abs(var(table(), 1, 0, {.mean = means}) - var(table(), 1))).item<double>(), 0, 1e-14);
}

TEST(Statistics, ComplexVariancesAreReal) {
    const array values = {std::complex<double>(1, 1), std::complex<double>(3, -1)};
    expect_equal(var(values), asarray(2.0));
    EXPECT_EQ(var(astype(values, complex64)).dtype(), float32);
}

}  // namespace
}  // namespace weft
