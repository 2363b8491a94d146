// Reductions without NaN in C++. Values are tested beside NumPy in
// tests/python/numpy/test_every_function.py.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/array_testing.h"

namespace weft {
namespace {

const array& holes() {
    static const array values = {{4.0, kNan, 2.0}, {kNan, kNan, kNan}};
    return values;
}

TEST(WithoutNan, SumsAndProducts) {
    expect_equal(nansum(holes(), 1), {6.0, 0.0});
    expect_equal(nanprod(holes(), 0), {4.0, 1.0, 2.0});
    expect_equal(nancumsum(array{1.0, kNan, 2.0}), {1.0, 1.0, 3.0});
    expect_equal(nancumprod(array{2.0, kNan, 2.0}), {2.0, 2.0, 4.0});
    expect_equal(nansum(array{1, 2}), asarray(3));
    expect_equal(nansum(holes(), {}, {.keepdims = true}), {{6.0}});
}

TEST(WithoutNan, Extremes) {
    expect_equal(nanmax(holes(), 1), {4.0, kNan});
    expect_equal(nanmin(holes()), asarray(2.0));
    expect_equal(nanmax(array{kNan}), asarray(kNan));
    expect_equal(nanmax(array{-kInfinity, kNan}), asarray(-kInfinity));
    expect_equal(nanmin(array{3, 1}), asarray(1));
    expect_equal(nanargmax(array{kNan, 3.0, 5.0}), asarray(2));
    EXPECT_THROW(nanargmin(holes(), 1), ValueError);
    const array z = astype(holes(), complex128);
    expect_equal(nanmax(z, 1), {std::complex<double>(4, 0), std::complex<double>(kNan, 0)});
    expect_equal(nanmin(z), asarray(std::complex<double>(2, 0)));
    array out = zeros(2);
    EXPECT_TRUE(shares_memory(nanmax(holes(), 1, {.out = out}), out));
    expect_equal(out, {4.0, kNan});
}

TEST(WithoutNan, MeansAndVariances) {
    expect_equal(nanmean(holes(), 1), {3.0, kNan});
    expect_equal(nanvar(holes(), 1), {1.0, kNan});
    expect_equal(nanstd(holes(), 1, 1), {std::sqrt(2.0), kNan});
    expect_equal(nanvar(holes(), 1, 2), {kNan, kNan});
    expect_equal(nanmean(array{1, 2}), asarray(1.5));
    EXPECT_EQ(nanvar(astype(holes(), float32), 1).dtype(), float32);
    expect_equal(nanmean(holes(), {}, {.where = array{true, false, false}}), asarray(4.0));
    EXPECT_THROW(nanmean(holes(), {}, {.dtype = int64}), TypeError);
}

TEST(WithoutNan, Numbers) {
    expect_equal(nan_to_num(array{1.0, kNan}), {1.0, 0.0});
    expect_equal(nan_to_num(array{kNan, kInfinity, -kInfinity}, {.nan = kInfinity, .posinf = 1, .neginf = 2}),
                 {kInfinity, 1.0, 2.0});
    EXPECT_EQ(nan_to_num(astype(array{kInfinity}, float32)).item<float>(), std::numeric_limits<float>::max());
    const array z = array(std::vector<std::complex<double>>{{kNan, 1}});
    EXPECT_EQ(nan_to_num(z).item<std::complex<double>>(), std::complex<double>(0, 1));
    expect_equal(nan_to_num(array{1, 2}), {1, 2});
}

TEST(Averages, HaveWeights) {
    const array a = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
    expect_equal(average(a).values, asarray(3.5));
    const Average found = average(a, 1, array{3.0, 0.0, 1.0});
    expect_equal(found.values, {1.5, 4.5});
    expect_equal(found.weights, {4.0, 4.0});
    expect_equal(average(array{1, 2, 3}, {}, array{3, 0, 1}).values, asarray(1.5));
    EXPECT_THROW(average(a, 1, array{0, 0, 0}), ZeroDivisionError);
    EXPECT_THROW(average(a, {}, array{1, 2, 3}), TypeError);
    EXPECT_THROW(average(a, 0, array{1, 2, 3}), ValueError);
}

TEST(Averages, Covariances) {
    expect_equal(cov(array{{1, 2, 3}, {3, 2, 1}}), {{1.0, -1.0}, {-1.0, 1.0}});
    expect_equal(cov(array{1, 2, 3}), asarray(1.0));
    expect_equal(cov(array{1, 2, 3}, array{3, 2, 1}), {{1.0, -1.0}, {-1.0, 1.0}});
    expect_equal(cov(array{{1, 3}, {2, 2}, {3, 1}}, {}, {.rowvar = false}), {{1.0, -1.0}, {-1.0, 1.0}});
    expect_equal(cov(array{1, 2, 3}, {}, {.fweights = array{2, 0, 2}}), asarray(4.0 / 3));
    expect_equal(cov(array{1, 2, 3}, {}, {.ddof = 0, .aweights = array{1, 0, 1}}), asarray(1.0));
    expect_equal(corrcoef(array{{1, 2, 3}, {6, 4, 2}}), {{1.0, -1.0}, {-1.0, 1.0}});
    EXPECT_THROW(cov(zeros({2, 2, 2})), ValueError);
    EXPECT_THROW(cov(array{1, 2}, {}, {.fweights = array{1.5, 1.0}}), TypeError);
    EXPECT_THROW(cov(array{1, 2}, {}, {.aweights = array{1, 2, 3}}), RuntimeError);
    EXPECT_THROW(cov(array{1, 2}, {}, {.aweights = array{-1, 2}}), ValueError);
}

}  // namespace
}  // namespace weft
