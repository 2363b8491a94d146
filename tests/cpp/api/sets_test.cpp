// Unique elements and sets in C++. Values of every dtype are tested beside NumPy in
// tests/python/numpy/test_order.py.
#include <gtest/gtest.h>

#include <cmath>

#include "support/array_testing.h"

namespace weft {
namespace {

TEST(Unique, TellsWhatIsAskedFor) {
    for (const DType dtype : {int64, uint8, float64, float16, complex64}) {
        const array input = astype(array{{3, 1, 3}, {2, 2, 2}}, dtype);
        const Unique found = unique(input, {.first = true, .inverse = true, .counts = true});
        expect_equal(found.values, astype(array{1, 2, 3}, dtype));
        expect_equal(found.first, {1, 3, 0});
        expect_equal(found.inverse, {{2, 0, 2}, {1, 1, 1}});
        expect_equal(found.counts, {1, 3, 2});
        const Unique alone = unique(input);
        expect_equal(alone.values, found.values);
        EXPECT_FALSE(alone.first.valid() || alone.inverse.valid() || alone.counts.valid());
        expect_equal(unique(input, {.counts = true}).counts, found.counts);
    }
}

TEST(Unique, NansAreOneValueOrMany) {
    for (const DType dtype : {float64, float32, float16, complex128}) {
        const array input = astype(array{kNan, 1.0, kNan}, dtype);
        EXPECT_EQ(unique(input).values.size(), 2);
        EXPECT_EQ(unique(input, {.equal_nan = false}).values.size(), 3);
        expect_equal(unique(input, {.inverse = true}).inverse, {1, 0, 1});
    }
    expect_equal(unique(array{0.0, -0.0}, {.counts = true}).counts, array{2});
}

TEST(Unique, LongRowsAreSharedByThreads) {
    const array numbers = remainder(arange(200'000) * 7919, 50'021);
    for (const array& input : {numbers, astype(numbers, float64), numbers * 1'000'000'007}) {
        const Unique found = unique(input, {.first = true, .inverse = true, .counts = true});
        EXPECT_EQ(found.values.size(), 50'021);
        EXPECT_TRUE(truth_of(all(array(found.values(found.inverse)) == input)));
        EXPECT_TRUE(truth_of(all(array(input(found.first)) == found.values)));
        EXPECT_EQ(sum(found.counts).item<int64_t>(), 200'000);
    }
}

TEST(Unique, OfNothing) {
    const Unique found = unique(empty({0, 3}), {.first = true, .inverse = true, .counts = true});
    EXPECT_EQ(found.values.shape(), Dims{0});
    EXPECT_EQ(found.inverse.shape(), (Dims{0, 3}));
    EXPECT_EQ(found.counts.size(), 0);
}

TEST(Unique, SubarraysAlongAnAxis) {
    const array rows = {{1, 2}, {0, 5}, {1, 2}};
    const Unique found = unique(rows, 0, {.first = true, .inverse = true, .counts = true});
    expect_equal(found.values, {{0, 5}, {1, 2}});
    expect_equal(found.first, {1, 0});
    expect_equal(found.inverse, {1, 0, 1});
    expect_equal(found.counts, {1, 2});
    expect_equal(unique(transpose(rows), -1).values, transpose(found.values));
    EXPECT_THROW(unique(rows, 2), AxisError);
    EXPECT_EQ(unique(empty({4, 0}), 0).values.shape(), (Dims{1, 0}));
}

TEST(Sets, AreCombined) {
    const array first = {4, 1, 3, 1}, second = {3, 1, 2};
    expect_equal(union1d(first, second), {1, 2, 3, 4});
    expect_equal(intersect1d(first, second), {1, 3});
    expect_equal(setxor1d(first, second), {2, 4});
    expect_equal(setdiff1d(first, second), array{4});
    expect_equal(setdiff1d(array{4, 1, 5}, second, true), {4, 5});
    const Intersection found = intersect1d_with_indices(first, second);
    expect_equal(found.values, {1, 3});
    expect_equal(found.in_first, {1, 2});
    expect_equal(found.in_second, {1, 0});
    expect_equal(union1d(array{1.5}, array{1}), {1.0, 1.5});
    EXPECT_EQ(setxor1d(empty(0), empty(0)).size(), 0);
}

TEST(Sets, MembersAreFoundAcrossTypes) {
    expect_equal(isin(array{1, 2, 3}, array{3, 1}), {true, false, true});
    expect_equal(isin(array{1, 2, 3}, array{3, 1}, true), {false, true, false});
    expect_equal(isin(array{1.5, 2.0}, array{2}), {false, true});
    // As float64 these would be equal.
    const array large = array(std::vector<uint64_t>{9007199254740993, 0});
    expect_equal(isin(large, array(std::vector<int64_t>{9007199254740992, -1})), {false, false});
    const array ends = array(std::vector<uint64_t>{UINT64_MAX});
    expect_equal(isin(ends, array{-1}), array{false});
    expect_equal(isin(array{-1}, ends), array{false});
    expect_equal(isin(array{INT64_MIN, INT64_MAX}, array(std::vector<int64_t>{INT64_MAX})), {false, true});
    expect_equal(isin(array{1, 2}, empty(0)), {false, false});
    expect_equal(isin(array{kNan}, array{kNan}), array{false});
    expect_equal(isin(asarray(2), array{2}), asarray(true));
}

TEST(Sets, TablesAreOfIntegersNearEachOther) {
    EXPECT_THROW(isin(array{1.0}, array{1}, false, SetSearch::kTable), ValueError);
    const array far = astype(array{-100, 100}, int8);
    EXPECT_THROW(isin(far, far, false, SetSearch::kTable), RuntimeError);
    expect_equal(isin(far, far), {true, true});
}

TEST(Ordering, KeysOneAfterTheOther) {
    const array keys[] = {{1, 0, 2}, {5, 5, 4}};
    expect_equal(lexsort(keys), {2, 1, 0});
    EXPECT_THROW(lexsort({}), TypeError);
    const array unlike[] = {{1, 0}, {5, 5, 4}};
    EXPECT_THROW(lexsort(unlike), ValueError);
}

TEST(Ordering, BinsRiseOrFall) {
    const array bins = {0.0, 1.0, 2.0}, x = {0.0, 0.5, 2.5};
    expect_equal(digitize(x, bins), {1, 1, 3});
    expect_equal(digitize(x, bins, true), {0, 1, 3});
    expect_equal(digitize(x, flip(bins)), {2, 2, 0});
    EXPECT_THROW(digitize(x, array{0.0, 2.0, 1.0}), ValueError);
    EXPECT_THROW(digitize(astype(x, complex128), bins), TypeError);
}

}  // namespace
}  // namespace weft
