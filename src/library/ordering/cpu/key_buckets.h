// Between which splitters keys lie: the step of a sort by splitting (library/ordering/sample_sort.h) that
// looks at every key. The splitters are a search tree laid out level by level, through which each key goes
// without branches (Sanders and Winkel, "Super scalar sample sort", 2004), with AVX-512 a register full of
// keys at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

constexpr int kMostBuckets = 256;

// tree[1] is its root, tree[2k] and tree[2k + 1] follow tree[k]. It has kMostBuckets entries, whatever the
// number of its levels.
template <class Key>
using FindBuckets = void (*)(const Key* keys, size_t count, const Key* tree, uint8_t* buckets);

// For uint16_t, uint32_t and uint64_t.
template <class Key>
class KeyBuckets {
public:
    // At most so many buckets (a power of two, 2 to kMostBuckets), divided by keys of a sample, which is in
    // order. A key that is there so often that it would fill a bucket gets one of its own.
    KeyBuckets(std::span<const Key> sample, int most);

    int count() const { return 1 << levels_; }
    // Whether all keys in it are equal.
    bool is_of_one_key(int bucket) const;
    void find(std::span<const Key> keys, uint8_t* buckets) const {
        find_(keys.data(), keys.size(), tree_.data(), buckets);
    }

private:
    std::vector<Key> splitters_;  // bucket k has the keys from splitters_[k - 1] on, below splitters_[k]
    int levels_ = 1;
    FindBuckets<Key> find_;
    alignas(64) std::array<Key, kMostBuckets> tree_{};
};

// By number of levels, from 1 on.
template <class Key>
using FindByLevels = std::array<FindBuckets<Key>, 9>;
const FindByLevels<uint16_t>& find_buckets_avx512(uint16_t);
const FindByLevels<uint32_t>& find_buckets_avx512(uint32_t);
const FindByLevels<uint64_t>& find_buckets_avx512(uint64_t);

}  // namespace weft
