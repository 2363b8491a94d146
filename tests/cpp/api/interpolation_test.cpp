// Lines between points: the fast path, the general one, and their options.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/array_testing.h"

namespace weft {
namespace {

array xp() { return {1, 2, 4}; }
array fp() { return {10, 20, 40}; }

TEST(Interpolation, BetweenAndBeyondThePoints) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const array x = {0.0, 1.0, 1.5, 3.0, 4.0, 9.0, nan};
    const array expected = {10.0, 10.0, 15.0, 30.0, 40.0, 40.0, nan};
    expect_equal(interp(x, xp(), fp()), expected);
    expect_equal(interp(x, astype(xp(), float64), astype(fp(), float64)), expected);  // the fast path
    expect_equal(interp(reshape(x(slice(6)), {2, 3}), xp(), fp()), reshape(expected(slice(6)), {2, 3}));
    expect_equal(interp(asarray(1.5), xp(), fp()), asarray(15.0));
}

TEST(Interpolation, TakesValuesForBeyondTheEnds) {
    const array x = {0.0, 1.5, 9.0};
    expect_equal(interp(x, xp(), fp(), {.left = -1}), {-1.0, 15.0, 40.0});
    expect_equal(interp(x, xp(), fp(), {.left = -1, .right = array{7, 8, 9}}), {-1.0, 15.0, 9.0});
    expect_equal(interp(x, array{1}, array{5}, {.right = 6}), {5.0, 6.0, 6.0});
}

TEST(Interpolation, PointsMayBePeriodic) {
    const array degrees = {190, -190, 350, -350}, values = {5, 10, 3, 4};
    expect_equal(interp(array{-180, -170, 185, -5, 365}, degrees, values, {.period = 360}),
                 {7.5, 5.0, 6.25, 3.25, 3.75});
    EXPECT_THROW(interp(array{0}, degrees, values, {.period = 0}), ValueError);
}

TEST(Interpolation, OfComplexNumbers) {
    const array line = {std::complex<double>(0, 1), std::complex<double>(2, 3)};
    expect_equal(interp(array{1.5}, array{1, 2}, line), array{std::complex<double>(1, 2)});
}

TEST(Interpolation, RefusesWhatAreNoPoints) {
    EXPECT_THROW(interp(array{1}, array{1, 2}, array{1}), ValueError);
    EXPECT_THROW(interp(array{1}, array{{1, 2}}, array{1, 2}), ValueError);
    EXPECT_THROW(interp(array{1}, zeros(0), zeros(0)), ValueError);
    const array line = {std::complex<double>(0, 1), std::complex<double>(2, 3)};
    EXPECT_THROW(interp(line, array{1, 2}, array{1, 2}), TypeError);
    EXPECT_THROW(interp(array{1}, line, array{1, 2}), TypeError);
}

}  // namespace
}  // namespace weft
