// The parts of a sort by splitting, each beside the standard library: buckets, keys of floats, positions.
#include "library/ordering/sample_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "library/ordering/cpu/float_keys.h"
#include "library/ordering/key_order.h"
#include "library/ordering/sort_keys.h"

namespace weft {
namespace {

template <class Key>
class KeyBucketsTest : public ::testing::Test {};
using KeyTypes = ::testing::Types<uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(KeyBucketsTest, KeyTypes);

// Keys that crowd: of `different` values, the ends of the type among them.
template <class Key>
std::vector<Key> crowded(size_t count, uint64_t different, uint64_t seed) {
    std::mt19937_64 random(seed);
    constexpr Key kLargest = std::numeric_limits<Key>::max();
    std::vector<Key> keys(count);
    for (Key& key : keys) {
        const uint64_t drawn = random() % different;
        const auto spread = static_cast<Key>(different <= 5 ? 1000 + drawn : drawn * 0x9e3779b97f4a7c15);
        key = drawn == 0 ? Key{0} : drawn == 1 ? kLargest : spread;
    }
    return keys;
}

TYPED_TEST(KeyBucketsTest, DivideTheKeysInOrder) {
    using Key = TypeParam;
    for (const int most : {2, 4, 8, 16, 32, 64, 128, 256}) {
        for (const uint64_t different :
             {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{5}, uint64_t{40}, ~uint64_t{0}}) {
            std::vector<Key> keys = crowded<Key>(5003, different, 7);
            std::vector<Key> sample(keys.begin(), keys.begin() + 16 * most);
            std::ranges::sort(sample);
            const KeyBuckets<Key> buckets(sample, most);
            ASSERT_LE(buckets.count(), most);
            std::ranges::sort(keys);
            std::vector<uint8_t> found(keys.size());
            buckets.find(keys, found.data());
            EXPECT_TRUE(std::ranges::is_sorted(found));
            EXPECT_LT(found.back(), buckets.count());
            for (size_t k = 1; k < keys.size(); ++k) {
                if (keys[k] == keys[k - 1]) {
                    ASSERT_EQ(found[k], found[k - 1]);
                } else if (found[k] == found[k - 1]) {
                    ASSERT_FALSE(buckets.is_of_one_key(found[k])) << most << " " << different;
                }
            }
            if (different <= 5 && most >= 32) {  // each often enough for a bucket of its own
                for (const uint8_t bucket : found) ASSERT_TRUE(buckets.is_of_one_key(bucket));
            }
            if (different > 40 && sizeof(Key) > 2) {  // none much larger than its share
                std::vector<size_t> counts(256);
                for (const uint8_t bucket : found) ++counts[bucket];
                EXPECT_LE(std::ranges::max(counts), 5 * keys.size() / static_cast<size_t>(most) + 50);
            }
        }
    }
}

template <class T>
void expect_keys_as_one_by_one(std::vector<typename SortKeys<T>::Bits> bits) {
    using Keys = SortKeys<T>;
    using Bits = typename Keys::Bits;
    const FloatKeys<Bits> floats{Keys::kInfinity};
    std::vector<char> memory(bits.size() * sizeof(Bits) + 1);
    for (size_t shift : {size_t{0}, size_t{1}}) {
        std::memcpy(memory.data() + shift, bits.data(), bits.size() * sizeof(Bits));
        for (const bool merge_zeros : {false, true}) {
            std::vector<Bits> keys(bits.size());
            floats.make(memory.data() + shift, merge_zeros, keys);
            for (size_t k = 0; k < bits.size(); ++k)
                ASSERT_EQ(keys[k], Keys::of(reinterpret_cast<const char*>(&bits[k]), merge_zeros));
            std::vector<Bits> back = keys;
            floats.turn_back(back);
            for (size_t k = 0; k < bits.size(); ++k) {
                Bits alone;
                Keys::back(keys[k], reinterpret_cast<char*>(&alone));
                ASSERT_EQ(back[k], alone);
            }
        }
    }
}

TEST(FloatKeysTest, AreThoseOfSortKeys) {
    std::mt19937_64 random(3);
    const auto bits_of = [&]<class T>(TypeTag<T>) {
        using Bits = typename SortKeys<T>::Bits;
        constexpr Bits kInfinity = SortKeys<T>::kInfinity, kSign = SortKeys<T>::kSign;
        std::vector<Bits> bits(1003);
        for (Bits& each : bits) each = static_cast<Bits>(random());
        const std::vector<Bits> special = {0,
                                           kSign,
                                           kInfinity,
                                           static_cast<Bits>(kInfinity | kSign),
                                           static_cast<Bits>(kInfinity + 1),
                                           static_cast<Bits>(~Bits{0}),
                                           1,
                                           static_cast<Bits>(kSign | 1)};
        for (size_t k = 0; k < 500; ++k) bits[2 * k] = special[k % special.size()];
        return bits;
    };
    expect_keys_as_one_by_one<double>(bits_of(TypeTag<double>()));
    expect_keys_as_one_by_one<float>(bits_of(TypeTag<float>()));
    expect_keys_as_one_by_one<Half>(bits_of(TypeTag<Half>()));
    expect_keys_as_one_by_one<BFloat16>(bits_of(TypeTag<BFloat16>()));
}

TEST(OrderOfKeys, IsStable) {
    std::mt19937_64 random(5);
    std::vector<std::vector<uint64_t>> cases;
    for (const size_t count : {1, 2, 3, 17, 1000, 20'000}) {
        for (const uint64_t different : {uint64_t{1}, uint64_t{2}, uint64_t{50}, ~uint64_t{0}})
            cases.push_back(crowded<uint64_t>(count, different, count));
        std::vector<uint64_t> near(count), far(count), clusters(count);
        for (size_t k = 0; k < count; ++k) {
            near[k] = (uint64_t{1} << 63) + random() % 100;
            far[k] = random() % 1000;  // all but one lose what tells them apart
            clusters[k] = (random() % 300 << 50) + (random() % 1000);  // runs, some short, some long
        }
        far[count / 2] = ~uint64_t{0};
        cases.insert(cases.end(), {near, far, clusters});
    }
    for (const std::vector<uint64_t>& keys : cases) {
        std::vector<uint64_t> expected(keys.size()), order(keys.size());
        std::iota(expected.begin(), expected.end(), 0);
        std::ranges::stable_sort(expected, {}, [&](uint64_t position) { return keys[position]; });
        order_of_keys(keys, order);
        ASSERT_EQ(order, expected);
    }
}

TEST(VectorSort, OfEveryWidth) {
    const auto check = [](auto keys) {
        auto expected = keys;
        std::ranges::sort(expected, std::less<>());
        vector_sort(std::span(keys));
        EXPECT_EQ(keys, expected);
    };
    for (const size_t count : {0, 1, 15, 64, 300, 5000, 70'001}) {
        for (const uint64_t different : {uint64_t{2}, uint64_t{1000}, ~uint64_t{0}}) {
            check(crowded<uint16_t>(count, different, 1));
            check(crowded<uint32_t>(count, different, 2));
            check(crowded<uint64_t>(count, different, 3));
            std::vector<WideKey> wide;
            for (const uint64_t key : crowded<uint64_t>(count, different, 4))
                wide.push_back({wide.size(), key});
            check(wide);
        }
    }
}

}  // namespace
}  // namespace weft
