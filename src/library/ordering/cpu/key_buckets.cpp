#include "library/ordering/cpu/key_buckets.h"

#include <bit>
#include <limits>
#include <utility>

#include "core/processor.h"

namespace weft {

namespace {

template <class Key, int levels>
void find_one_by_one(const Key* keys, size_t count, const Key* tree, uint8_t* buckets) {
    for (size_t i = 0; i < count; ++i) {
        size_t place = 1;
        for (int level = 0; level < levels; ++level) place = 2 * place + (tree[place] <= keys[i] ? 1 : 0);
        buckets[i] = static_cast<uint8_t>(place - (size_t{1} << levels));
    }
}

template <class Key>
FindBuckets<Key> find_function(int levels) {
    if (processor_level() == ProcessorLevel::kX86V4)
        return find_buckets_avx512(Key{})[static_cast<size_t>(levels)];
    static constexpr auto kFunctions = []<int... k>(std::integer_sequence<int, k...>) {
        return FindByLevels<Key>{nullptr, find_one_by_one<Key, k + 1>...};
    }(std::make_integer_sequence<int, 8>());
    return kFunctions[static_cast<size_t>(levels)];
}

}  // namespace

template <class Key>
KeyBuckets<Key>::KeyBuckets(std::span<const Key> sample, int most) {
    constexpr Key kLargest = std::numeric_limits<Key>::max();
    Key before = 0;
    for (size_t k = 1; k < static_cast<size_t>(most); ++k) {
        const Key key = sample[k * sample.size() / static_cast<size_t>(most)];
        if (splitters_.empty() || key > splitters_.back()) {
            splitters_.push_back(key);
        } else if (key == before && key == splitters_.back() && key != kLargest) {
            splitters_.push_back(static_cast<Key>(key + 1));
        }
        before = key;
    }
    levels_ = std::bit_width(splitters_.size());
    splitters_.resize((size_t{1} << levels_) - 1, kLargest);
    for (int level = 0; level < levels_; ++level) {
        for (size_t k = 0; k < size_t{1} << level; ++k)
            tree_[(size_t{1} << level) + k] = splitters_[((2 * k + 1) << (levels_ - level - 1)) - 1];
    }
    find_ = find_function<Key>(levels_);
}

template <class Key>
bool KeyBuckets<Key>::is_of_one_key(int bucket) const {
    const auto k = static_cast<size_t>(bucket);
    const Key low = k == 0 ? Key{0} : splitters_[k - 1];
    if (k == splitters_.size()) return low == std::numeric_limits<Key>::max();
    return splitters_[k] - low <= 1;
}

template class KeyBuckets<uint16_t>;
template class KeyBuckets<uint32_t>;
template class KeyBuckets<uint64_t>;

}  // namespace weft
