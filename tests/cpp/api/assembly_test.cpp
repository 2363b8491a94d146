// Arrays repeated, cut into parts and put together in C++. Values are tested beside NumPy in
// tests/python/numpy/test_assembly.py and test_every_function.py.
#include "support/array_testing.h"

namespace weft {
namespace {

TEST(Assembly, Repeats) {
    const array a = {1, 2, 3}, m = {{1, 2}, {3, 4}};
    expect_equal(repeat(a, 2), {1, 1, 2, 2, 3, 3});
    expect_equal(repeat(m, 2), {1, 1, 2, 2, 3, 3, 4, 4});
    expect_equal(repeat(m, 2, 1), {{1, 1, 2, 2}, {3, 3, 4, 4}});
    EXPECT_EQ(repeat(m, 0, 0).shape(), (Dims{0, 2}));
    expect_equal(repeat(a, array{0, 1, 2}), {2, 3, 3});
    expect_equal(repeat(m, array{1, 2}, 0), {{1, 2}, {3, 4}, {3, 4}});
    expect_equal(repeat(transpose(m), array{2, 1}, -1), {{1, 1, 3}, {2, 2, 4}});
    expect_equal(repeat(a, array{2}), repeat(a, 2));
    EXPECT_THROW(repeat(a, -1), ValueError);
    EXPECT_THROW(repeat(a, array{1, -1, 1}), ValueError);
    EXPECT_THROW(repeat(a, array{1, 2}), ValueError);
    EXPECT_THROW(repeat(a, array{1.0, 2.0, 3.0}), TypeError);
    EXPECT_THROW(repeat(a, 2, 1), AxisError);
}

TEST(Assembly, ManyRepeats) {
    const int64_t count = 30000;
    const array counts = arange(count) % 4, values = arange(count);
    const array repeated = repeat(values, counts);
    EXPECT_EQ(repeated.size(), sum(counts).item<int64_t>());
    expect_equal(bincount(repeated, array(), count), counts);
    const array rows = reshape(arange(2 * count), {2, count});
    const array twice = repeat(rows, counts, 1);
    expect_equal(array(twice(0)), repeated);
    expect_equal(array(twice(1)), repeated + count);
}

TEST(Assembly, Tiles) {
    const array a = {1, 2}, m = {{1, 2}, {3, 4}};
    expect_equal(tile(a, 2), {1, 2, 1, 2});
    expect_equal(tile(a, {2, 1}), {{1, 2}, {1, 2}});
    expect_equal(tile(m, 2), {{1, 2, 1, 2}, {3, 4, 3, 4}});
    expect_equal(tile(m, {2, 1}), {{1, 2}, {3, 4}, {1, 2}, {3, 4}});
    EXPECT_EQ(tile(a, {0, 3}).shape(), (Dims{0, 6}));
    EXPECT_FALSE(shares_memory(tile(a, 1), a));
    const array large = arange(10000);
    expect_equal(array(tile(large, {2, 2})(1, slice(10000, none))), large);
    EXPECT_THROW(tile(a, -1), ValueError);
}

TEST(Assembly, OtherShapes) {
    const array a = {1, 2, 3};
    expect_equal(resize(a, {2, 2}), {{1, 2}, {3, 1}});
    expect_equal(resize(a, 7), {1, 2, 3, 1, 2, 3, 1});
    expect_equal(resize(a, 2), {1, 2});
    expect_equal(resize(zeros(0), 2), zeros(2));
    EXPECT_THROW(resize(a, -1), ValueError);
    expect_equal(append(a, {{4}, {5}}), {1, 2, 3, 4, 5});
    expect_equal(append(array{{1}}, {{2}}, 1), {{1, 2}});
}

TEST(Assembly, Parts) {
    const array a = {1, 2, 3, 4, 5}, m = {{1, 2}, {3, 4}};
    const std::vector<array> parts = array_split(a, 2);
    expect_equal(parts[0], {1, 2, 3});
    expect_equal(parts[1], {4, 5});
    EXPECT_TRUE(shares_memory(parts[1], a));
    const int64_t ends[] = {1, -1};
    const std::vector<array> named = array_split(a, ends);
    expect_equal(named[1], {2, 3, 4});
    expect_equal(named[2], array{5});
    expect_equal(split(m, 2, 1)[1], {{2}, {4}});
    expect_equal(unstack(m, 1)[1], {2, 4});
    EXPECT_THROW(split(a, 2), ValueError);
    EXPECT_THROW(array_split(a, 0), ValueError);
    EXPECT_THROW(array_split(a, 2, 1), IndexError);
    EXPECT_THROW(unstack(asarray(1)), ValueError);
}

TEST(Assembly, Turns) {
    const array m = {{1, 2}, {3, 4}};
    expect_equal(rot90(m), {{2, 4}, {1, 3}});
    expect_equal(rot90(m, 2), {{4, 3}, {2, 1}});
    expect_equal(rot90(m, -1), rot90(m, 3));
    EXPECT_TRUE(shares_memory(rot90(m, 0), m));
    EXPECT_THROW(rot90(m, 1, {0, 2}), ValueError);
    EXPECT_THROW(rot90(m, 1, {0, -2}), ValueError);
}

TEST(Assembly, Inserts) {
    const array a = {1, 2, 3}, m = {{1, 2}, {3, 4}};
    expect_equal(insert(a, 1, 9), {1, 9, 2, 3});
    expect_equal(insert(a, -1, array{8, 9}), {1, 2, 8, 9, 3});
    expect_equal(insert(a, array{0, 3}, array{8, 9}), {8, 1, 2, 3, 9});
    expect_equal(insert(a, array{1, 1}, array{8, 9}), {1, 8, 9, 2, 3});
    expect_equal(insert(a, slice(0, 2), 7), {7, 1, 7, 2, 3});
    expect_equal(insert(a, array{false, true, false}, 7), {1, 7, 2, 3});
    expect_equal(insert(m, 1, array{8, 9}, 1), {{1, 8, 2}, {3, 9, 4}});
    expect_equal(insert(m, array{0, 2}, 5, 0), {{5, 5}, {1, 2}, {3, 4}, {5, 5}});
    EXPECT_THROW(insert(a, 4, 1), IndexError);
    EXPECT_THROW(insert(a, array{0.5, 1.5}, 1), IndexError);
    EXPECT_THROW(insert(a, 1, 1, 1), AxisError);
}

TEST(Assembly, Deletes) {
    const array a = {1, 2, 3, 4}, m = {{1, 2}, {3, 4}};
    expect_equal(delete_(a, -1), {1, 2, 3});
    expect_equal(delete_(a, array{0, 2}), {2, 4});
    expect_equal(delete_(a, slice(none, none, -2)), {1, 3});
    expect_equal(delete_(a, slice(1, 3)), {1, 4});
    expect_equal(delete_(a, slice(3, 1)), a);
    expect_equal(delete_(a, array{true, false, false, true}), {2, 3});
    expect_equal(delete_(m, 0, 1), {{2}, {4}});
    EXPECT_TRUE(delete_(transpose(tile(m, 2)), 0, 1).f_contiguous());
    EXPECT_THROW(delete_(a, 4), IndexError);
    EXPECT_THROW(delete_(a, array{0, 9}), IndexError);
    EXPECT_THROW(delete_(a, array{true}), ValueError);
    EXPECT_THROW(delete_(a, slice(none, none, 0)), ValueError);
}

TEST(Assembly, LogarithmsEvenlySpaced) {
    expect_equal(logspace(0, 2, 3), {1.0, 10.0, 100.0});
    expect_equal(logspace(0, 2, 3, 2), {1.0, 2.0, 4.0});
    expect_equal(logspace(0, 1, 2, array{2.0, 3.0}), {{1.0, 1.0}, {2.0, 3.0}});
    expect_equal(logspace(0, 2, 2, 10.0, {.endpoint = false, .dtype = int64}), {1, 10});
    expect_equal(geomspace(1, 1000, 4), {1.0, 10.0, 100.0, 1000.0});
    expect_equal(geomspace(-4, -1, 3), {-4.0, -2.0, -1.0});
    EXPECT_EQ(geomspace(array{1.0, 2.0}, 4, 3, {.axis = 1}).shape(), (Dims{2, 3}));
    EXPECT_EQ(geomspace(1, 8, 4, {.dtype = float32}).dtype(), float32);
    EXPECT_THROW(geomspace(0, 1), ValueError);
    EXPECT_THROW(geomspace(1, 2, 3, {.axis = 1}), AxisError);
    EXPECT_THROW(logspace(0, 1, -1), ValueError);
}

TEST(Assembly, Blocks) {
    const array a = {{1, 2}, {3, 4}}, column = {{5}, {6}}, row = {{7, 8, 9}};
    expect_equal(block({{a, column}, {row}}), {{1, 2, 5}, {3, 4, 6}, {7, 8, 9}});
    expect_equal(block({array{1, 2}, array{3}}), {1, 2, 3});
    expect_equal(block({{array{1, 2}}, {array{3, 4}}}), a);
    expect_equal(block(transpose(a)), {{1, 3}, {2, 4}});
    EXPECT_TRUE(block(transpose(a)).c_contiguous());
    EXPECT_EQ(block({{array{1}, array{2.5}}}).dtype(), DType(ScalarType::kFloat64));
    EXPECT_THROW(block(std::vector<Block>{}), ValueError);
    EXPECT_THROW(block({{a, column}, Block(row)}), ValueError);  // lists of two depths
    EXPECT_THROW(block({{a, row}}), ValueError);
}

TEST(Assembly, TrimmedZeros) {
    expect_equal(trim_zeros(array{0, 1, 0, 2, 0}), {1, 0, 2});
    expect_equal(trim_zeros(array{0, 1, 0}, true, false), {1, 0});
    expect_equal(trim_zeros(array{0, 1, 0}, false, true), {0, 1});
    EXPECT_EQ(trim_zeros(array{0.0, -0.0}).size(), 0);
    const array m = {{0, 0, 0}, {0, 1, 0}, {0, 2, 0}};
    expect_equal(trim_zeros(m), {{1}, {2}});
    expect_equal(trim_zeros(m, true, true, std::vector<int64_t>{-1}), {{0}, {1}, {2}});
    EXPECT_EQ(trim_zeros(m).storage(), m.storage());  // a view
    EXPECT_EQ(trim_zeros(zeros({2, 0})).shape(), (Dims{0, 0}));
    EXPECT_THROW(trim_zeros(m, true, true, std::vector<int64_t>{2}), AxisError);
}

}  // namespace
}  // namespace weft
