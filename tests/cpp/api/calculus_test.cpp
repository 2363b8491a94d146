// Neighbouring values in C++. Values of every dtype are tested beside NumPy in
// tests/python/numpy/test_every_function.py.
#include "support/array_testing.h"

namespace weft {
namespace {

TEST(Calculus, Differences) {
    expect_equal(diff(array{1, 4, 9, 16}), {3, 5, 7});
    expect_equal(diff(array{1, 4, 9, 16}, 2), {2, 2});
    expect_equal(diff(array{1, 4}, 5), empty(0, int64));
    expect_equal(diff(array{true, false, false}), {true, false});
    const array table = {{1.0, 2.0, 4.0}, {8.0, 16.0, 32.0}};
    expect_equal(diff(table), {{1.0, 2.0}, {8.0, 16.0}});
    expect_equal(diff(table, 1, {.axis = 0}), {{7.0, 14.0, 28.0}});
    expect_equal(diff(array{1, 4}, 1, {.prepend = asarray(0), .append = array{5, 7}}), {1, 3, 1, 2});
    expect_equal(diff(table, 1, {.axis = 0, .append = asarray(0.0)}),
                 {{7.0, 14.0, 28.0}, {-8.0, -16.0, -32.0}});
    EXPECT_TRUE(shares_memory(diff(table, 0), table));
    EXPECT_THROW(diff(table, -1), ValueError);
    EXPECT_THROW(diff(asarray(1)), ValueError);
    EXPECT_THROW(diff(table, 1, {.axis = 2}), AxisError);
}

TEST(Calculus, DifferencesBetweenEnds) {
    expect_equal(ediff1d(array{{1, 4}, {9, 16}}), {3, 5, 7});
    expect_equal(ediff1d(array{1, 4}, array{7, 8}, asarray(0)), {0, 3, 7, 8});
    expect_equal(ediff1d(empty(0)), empty(0));
    EXPECT_EQ(ediff1d(astype(array{1, 2}, int8), asarray(3)).dtype(), int8);
    EXPECT_THROW(ediff1d(array{1, 2}, asarray(0.5)), TypeError);
    EXPECT_THROW(ediff1d(array{true, false}), TypeError);
}

TEST(Calculus, Slopes) {
    const array f = {1.0, 2.0, 4.0, 7.0};
    ASSERT_EQ(gradient(f).size(), 1u);
    expect_equal(gradient(f)[0], {1.0, 1.5, 2.5, 3.0});
    expect_equal(gradient(array{1, 2, 4, 7}, {2.0})[0], {0.5, 0.75, 1.25, 1.5});
    expect_equal(gradient(f, {}, {.edge_order = 2})[0], {0.5, 1.5, 2.5, 3.5});
    expect_equal(gradient(f, {array{0, 1, 2, 3}})[0], gradient(f)[0]);
    const array squares = {0.0, 1.0, 9.0, 16.0};
    expect_equal(gradient(squares, {array{0, 1, 3, 4}}, {.edge_order = 2})[0], {0.0, 2.0, 6.0, 8.0});
    const std::vector<array> both = gradient(array{{1, 2}, {4, 8}});
    expect_equal(both[0], {{3.0, 6.0}, {3.0, 6.0}});
    expect_equal(both[1], {{1.0, 1.0}, {4.0, 4.0}});
    expect_equal(gradient(array{{1, 2}, {4, 8}}, {}, {.axis = -1})[0], both[1]);
    EXPECT_EQ(gradient(astype(f, float32))[0].dtype(), float32);
    EXPECT_THROW(gradient(f, {1.0, 2.0}), TypeError);
    EXPECT_THROW(gradient(f, {array{0, 1}}), ValueError);
    EXPECT_THROW(gradient(array{1.0}), ValueError);
    EXPECT_THROW(gradient(f, {}, {.edge_order = 3}), ValueError);
    EXPECT_THROW(gradient(f, {}, {.axis = 1}), AxisError);
    EXPECT_THROW(gradient(f, {}, {.axis = {0, 0}}), ValueError);
}

TEST(Calculus, Integrals) {
    expect_equal(trapezoid(array{1, 2, 3}), asarray(4.0));
    expect_equal(trapezoid(array{1, 2, 3}, {}, 2), asarray(8.0));
    expect_equal(trapezoid(array{1, 2, 3}, array{0, 1, 3}), asarray(6.5));
    expect_equal(trapezoid(array{{1, 2}, {3, 4}}, {}, 1.0, 0), {2.0, 3.0});
    EXPECT_THROW(trapezoid(array{1, 2}, {}, 1.0, 1), AxisError);
}

TEST(Calculus, AnglesWithoutJumps) {
    expect_equal(unwrap(array{0, 1, 3, 0, 1}, {.period = 4}), {0, 1, 3, 4, 5});
    expect_equal(unwrap(array{0.0, 3.0, 6.0, 1.0}, {.period = 8.0}), {0.0, 3.0, 6.0, 9.0});
    expect_equal(unwrap(array{0, 5}, {.discont = 6, .period = 4}), {0, 5});
    EXPECT_EQ(unwrap(array{0, 1}).dtype(), float64);
    EXPECT_THROW(unwrap(asarray(1)), AxisError);
}

TEST(Calculus, Convolutions) {
    const array a = {1, 2, 3}, v = {0, 1, 2};
    expect_equal(convolve(a, v), {0, 1, 4, 7, 6});
    expect_equal(convolve(a, v, Overlap::kSame), {1, 4, 7});
    expect_equal(convolve(a, v, Overlap::kValid), array{4});
    expect_equal(convolve(asarray(2), v), {0, 2, 4});
    expect_equal(convolve(array{true, false}, array{true, true}), {true, true, false});
    expect_equal(correlate(a, v), array{8});
    expect_equal(correlate(a, array{1, 0}, Overlap::kFull), {0, 1, 2, 3});
    expect_equal(correlate(array{1, 0}, a, Overlap::kFull), {3, 2, 1, 0});
    const array z = multiply(a, std::complex<double>(0, 1));
    expect_equal(correlate(z, z), array{std::complex<double>(14, 0)});
    EXPECT_EQ(convolve(astype(a, int8), astype(v, float32)).dtype(), float32);
    EXPECT_THROW(convolve(a, empty(0)), ValueError);
    EXPECT_THROW(convolve(a, array{{1}}), ValueError);
    EXPECT_THROW(correlate(a, asarray(1)), ValueError);
}

// Few sums have a loop of their own.
TEST(Calculus, FewAndManySumsAreAlike) {
    const array many = sin(arange(200.0)), row = many(slice(40)), factors = cos(arange(15.0));
    for (const Overlap mode : {Overlap::kValid, Overlap::kSame, Overlap::kFull}) {
        const array few = correlate(row, factors, mode);
        const array padded = concatenate({zeros(64), row, zeros(64)});
        const array sums = correlate(padded, factors);
        const int64_t start = mode == Overlap::kValid ? 64 : mode == Overlap::kSame ? 57 : 50;
        const array same = sums(slice(start, start + few.size()));
        EXPECT_TRUE(truth_of(all(absolute(few - same) < 1e-14)));
    }
    expect_equal(convolve(array{-0.0}, array{1.0}), array{0.0});
    expect_equal(convolve(array{1.0, 2.0}, array{kInfinity}), {kInfinity, kInfinity});
    const array large = {INT64_MAX, int64_t{1}};
    expect_equal(convolve(large, array{2, 0}), {-2, 2, 0});
}

TEST(Calculus, Sinc) {
    expect_equal(sinc(array{0}), array{1.0});
    EXPECT_NEAR(sinc(array{0.5})(0).item<double>(), 0.6366197723675814, 1e-15);
    EXPECT_EQ(sinc(astype(array{0.5}, float32)).dtype(), float32);
}

}  // namespace
}  // namespace weft
