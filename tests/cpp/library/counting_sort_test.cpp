// Which integers are near, and that these are not sorted by comparing.
#include "library/ordering/counting_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft {
namespace {

template <class T>
IntegerRow row_of(ScalarType type, const std::vector<T>& numbers) {
    return {type, reinterpret_cast<const char*>(numbers.data()), static_cast<int64_t>(numbers.size())};
}

TEST(DenseRangeIntegers, RangeDoesNotOverflow) {
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                      kMost = std::numeric_limits<int64_t>::max();
    const std::vector<int64_t> ends = {kMost, kLeast};
    EXPECT_FALSE(range_if_dense(row_of(ScalarType::kInt64, ends), UINT64_MAX - 1));
    const auto all = range_if_dense(row_of(ScalarType::kInt64, ends), UINT64_MAX);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->low, 0);
    EXPECT_EQ(all->width, UINT64_MAX);
    std::vector<int64_t> outlier(100'000, 5);
    outlier[77'777] = kLeast;  // no sample
    EXPECT_FALSE(range_if_dense(row_of(ScalarType::kInt64, outlier), 1000));
    EXPECT_FALSE(range_if_dense(row_of(ScalarType::kInt64, std::vector<int64_t>()), 1000));
    const std::vector<uint8_t> bytes = {200, 3, 7};
    const auto narrow = range_if_dense(row_of(ScalarType::kUInt8, bytes), 197);
    ASSERT_TRUE(narrow);
    EXPECT_EQ(narrow->low, 3);
    EXPECT_EQ(narrow->width, 197);
}

TEST(DenseRangeIntegers, AreSortedByCountsWhereTheyAreMany) {
    std::vector<int32_t> numbers(100'000), sorted(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i * 7919 % 25'000) - 12'500;
    ASSERT_TRUE(
        try_to_sort_by_counts(row_of(ScalarType::kInt32, numbers), reinterpret_cast<char*>(sorted.data())));
    std::vector<int32_t> expected = numbers;
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sorted, expected);
    numbers[50'001] = 12'500;  // one value more than a quarter of the elements
    EXPECT_FALSE(
        try_to_sort_by_counts(row_of(ScalarType::kInt32, numbers), reinterpret_cast<char*>(sorted.data())));
    EXPECT_EQ(sorted, expected);
}

}  // namespace
}  // namespace weft
