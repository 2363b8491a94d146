// Products of vectors and of some axes in C++. Values of every dtype are tested beside NumPy in
// tests/python/numpy/test_products.py.
#include "support/array_testing.h"

namespace weft {
namespace {

const std::complex<double> kI(0, 1);

TEST(VectorProducts, OfAllPairs) {
    expect_equal(outer(array{1, 2}, array{3, 4}), {{3, 4}, {6, 8}});
    expect_equal(outer(array{{1}, {2}}, asarray(3)), {{3}, {6}});
    array out = zeros({2, 1});
    EXPECT_TRUE(shares_memory(outer(array{1, 2}, array{3}, out), out));
    expect_equal(out, {{3.0}, {6.0}});
    EXPECT_THROW(outer(array{1, 2}, array{3}, zeros(2)), ValueError);
}

TEST(VectorProducts, OfLastAxes) {
    expect_equal(inner(array{1, 2}, array{{3, 4}, {5, 6}}), {11, 17});
    expect_equal(inner(asarray(2), array{1, 2}), {2, 4});
    EXPECT_THROW(inner(array{1, 2}, array{1, 2, 3}), ValueError);
    expect_equal(vdot(array{{1, 2}, {3, 4}}, array{{1, 1}, {1, 1}}), asarray(10));
    expect_equal(vdot(multiply(array{1, 2}, kI), array{1, 2}), asarray(std::complex<double>(0, -5)));
    EXPECT_THROW(vdot(array{1, 2}, array{1, 2, 3}), ValueError);
}

TEST(VectorProducts, OverSomeAxes) {
    const array a = {{1, 2}, {3, 4}}, b = {{1, 0}, {2, 1}};
    expect_equal(tensordot(a, b), asarray(11));
    expect_equal(tensordot(a, b, 1), matmul(a, b));
    expect_equal(tensordot(a, b, {0}, {-1}), {{1, 5}, {2, 8}});
    expect_equal(tensordot(a, b, {0, 1}, {1, 0}), asarray(9));
    EXPECT_EQ(tensordot(a, b, 0).shape(), (Dims{2, 2, 2, 2}));
    EXPECT_THROW(tensordot(a, b, 3), IndexError);
    EXPECT_THROW(tensordot(a, b, {0}, {2}), IndexError);
    EXPECT_THROW(tensordot(a, b, {0}, {0, 1}), ValueError);
    EXPECT_THROW(tensordot(a, b, {0, 0}, {0, 1}), ValueError);
    EXPECT_THROW(tensordot(a, b, {0, 1}, {1, 1}), ValueError);
    EXPECT_THROW(tensordot(a, array{{1, 2, 3}}, 1), ValueError);
}

TEST(VectorProducts, WithMatrices) {
    const array m = {{1, 2}, {3, 4}}, v = {1, 1};
    expect_equal(vecdot(m, v), {3, 7});
    expect_equal(vecdot(m, array{1, 2}, 0), {7, 10});
    expect_equal(vecdot(m, v, -1, true), {{3}, {7}});
    expect_equal(vecdot(multiply(v, kI), v), asarray(std::complex<double>(0, -2)));
    expect_equal(matvec(m, v), {3, 7});
    expect_equal(vecmat(v, m), {4, 6});
    expect_equal(vecmat(multiply(v, kI), m), multiply(array{4, 6}, -kI));
    EXPECT_THROW(vecdot(asarray(1), v), ValueError);
    EXPECT_THROW(vecdot(m, array{1, 2, 3}), ValueError);
    EXPECT_THROW(matvec(v, v), ValueError);
    EXPECT_THROW(vecmat(v, v), ValueError);
}

TEST(VectorProducts, Cross) {
    expect_equal(cross(array{1, 2, 3}, array{4, 5, 6}), {-3, 6, -3});
    expect_equal(cross(array{1, 2}, array{3, 4}), asarray(-2));
    expect_equal(cross(array{1, 2}, array{4, 5, 6}), {12, -6, -3});
    const array columns = {{1, 0}, {0, 1}, {0, 0}};
    expect_equal(cross(columns, array{0, 0, 1}, 0), {{0, -1, 0}, {1, 0, 0}});
    expect_equal(cross(columns, array{0, 0, 1}, 0, -1, 0), {{0, 1}, {-1, 0}, {0, 0}});
    EXPECT_THROW(cross(asarray(1), array{1, 2, 3}), ValueError);
    EXPECT_THROW(cross(array{1, 2, 3, 4}, array{1, 2, 3}), ValueError);
    EXPECT_THROW(cross(columns, columns, 2), AxisError);
}

TEST(VectorProducts, Trace) {
    expect_equal(trace(array{{1, 2}, {3, 4}}), asarray(5));
    expect_equal(trace(array{{1, 2}, {3, 4}}, 1), asarray(2));
    EXPECT_EQ(trace(astype(array{{1, 2}, {3, 4}}, int8)).dtype(), int64);
    EXPECT_EQ(trace(array{{1}}, 0, 0, 1, float32).dtype(), float32);
    EXPECT_THROW(trace(array{1}), ValueError);
    EXPECT_THROW(trace(array{{1}}, 0, 0, 2), AxisError);
}

}  // namespace
}  // namespace weft
