// Evenly spaced numbers between numbers and between arrays.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/array_testing.h"

namespace weft {
namespace {

TEST(Linspace, OfNumbers) {
    expect_equal(linspace(0, 1, 5), {0.0, 0.25, 0.5, 0.75, 1.0});
    expect_equal(linspace(0, 1, 4, {.endpoint = false}), {0.0, 0.25, 0.5, 0.75});
    expect_equal(linspace(-1, 1, 4, {.dtype = int64}), {-1, -1, 0, 1});
    EXPECT_EQ(linspace(0, 1).size(), 50);
    EXPECT_EQ(linspace(0, 1, 0).size(), 0);
    EXPECT_THROW(linspace(0, 1, -1), ValueError);
    EXPECT_THROW(linspace(0, 1, 3, {.axis = 1}), AxisError);
}

TEST(Linspace, OfArrays) {
    const array starts = {0.0, 10.0};
    expect_equal(linspace(starts, 20.0, 3), {{0.0, 10.0}, {10.0, 15.0}, {20.0, 20.0}});
    expect_equal(linspace(starts, 20, 3, {.axis = -1}), {{0.0, 10.0, 20.0}, {10.0, 15.0, 20.0}});
    expect_equal(linspace(starts, array{{20}}, 2, {.endpoint = false, .axis = 1}),
                 {{{0.0, 10.0}, {10.0, 15.0}}});
    expect_equal(linspace(starts, 20, 2, {.dtype = int32}), astype(array{{0, 10}, {20, 20}}, int32));
    EXPECT_EQ(linspace(astype(starts, float32), 1, 3).dtype(), float32);
    EXPECT_EQ(linspace(array{1, 2}, 3, 3).dtype(), float64);
    EXPECT_EQ(linspace(starts, std::complex<double>(0, 1), 3).dtype(), complex128);
    EXPECT_THROW(linspace(starts, 1, 3, {.axis = 2}), AxisError);
    EXPECT_THROW(linspace(starts, array{1.0, 2.0, 3.0}, 3), ValueError);
}

TEST(Linspace, OfEqualEnds) {
    const array starts = {1.0, 2.0};
    expect_equal(linspace(starts, array{1.0, 4.0}, 3), {{1.0, 2.0}, {1.0, 3.0}, {1.0, 4.0}});
    const double tiny = std::numeric_limits<double>::denorm_min();  // by 3 it is 0
    expect_equal(linspace(array{0.0}, 2 * tiny, 5), {{0.0}, {0.0}, {tiny}, {2 * tiny}, {2 * tiny}});
}

TEST(Linspace, WithStep) {
    const auto [values, step] = linspace_with_step(0, 1, 5);
    EXPECT_EQ(step.item<double>(), 0.25);
    expect_equal(values, linspace(0, 1, 5));
    const auto [rows, steps] = linspace_with_step(array{0.0, 10.0}, 20, 3);
    expect_equal(steps, {10.0, 5.0});
    expect_equal(rows, linspace(array{0.0, 10.0}, 20, 3));
    EXPECT_TRUE(std::isnan(linspace_with_step(0, 1, 1).second.item<double>()));
}

}  // namespace
}  // namespace weft
