// Rows of many keys, sorted by splitting them first: splitters from a sorted sample say into which bucket
// each key goes (Frazer and McKellar, "Samplesort: a sampling approach to minimal storage tree sorting",
// 1970; without branches: Sanders and Winkel, "Super scalar sample sort", 2004), and the buckets, small
// enough for a core's cache, are sorted side by side. Keys are counted per piece of the row, so that all
// threads know where to write: the keys of a bucket keep the order of the row, whatever the number of
// threads.
//
// Used by library/ordering/sort_loops.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "library/ordering/cpu/key_buckets.h"
#include "library/ordering/cpu/vector_sort.h"

namespace weft {

// Memory for keys, from the pool, whose pages are there already.
template <class Key>
class KeyMemory {
public:
    explicit KeyMemory(int64_t count)
        : buffer_(cpu_device().allocate(static_cast<size_t>(count) * sizeof(Key))) {}
    Key* data() const { return reinterpret_cast<Key*>(buffer_->data()); }

private:
    BufferPtr buffer_;
};

// Into how many buckets a row of so many keys should be split, with at most so many in one if that can be
// had; 1: into none.
int buckets_worth_it(int64_t count, int64_t most_in_bucket);

// A row cut into pieces, one task each, and how many keys of each piece are in each bucket.
class PieceCounts {
public:
    PieceCounts(int64_t count, int buckets);

    int64_t pieces() const { return pieces_; }
    int64_t begin_of(int64_t piece) const;
    std::span<int64_t> of(int64_t piece) {
        return std::span(counts_).subspan(static_cast<size_t>(piece) * buckets_, buckets_);
    }
    // Each count becomes the place of the first of these keys; returns where buckets begin, and the end.
    std::vector<int64_t> turn_into_places();

private:
    int64_t count_, pieces_;
    size_t buckets_;
    std::vector<int64_t> counts_;
};

struct Bucket {
    int64_t begin = 0, end = 0;
    bool in_order = false;
};

// On all threads, the largest first. Those that are in order are cut.
void for_each_bucket(std::span<const Bucket> buckets, const std::function<void(const Bucket& bucket)>& work);

// load(keys, begin, end) writes the keys of these positions, store(place, key, position) stores one of them,
// and finish(bucket) puts the keys at these places in order. Each key is loaded at least twice.
template <class Key, class Load, class Store, class Finish>
void split_sort(int64_t count, int most_buckets, const Load& load, const Store& store, const Finish& finish) {
    constexpr int64_t kBlock = 1024, kSamplesPerBucket = 16;
    std::vector<Key> sample(static_cast<size_t>(kSamplesPerBucket * most_buckets));
    uint64_t state = 1;
    for (Key& key : sample) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's
        const auto position = static_cast<int64_t>(static_cast<uint64_t>(
            (static_cast<unsigned __int128>(state) * static_cast<uint64_t>(count)) >> 64));
        load(&key, position, position + 1);
    }
    vector_sort(std::span<Key>(sample));
    const KeyBuckets<Key> buckets(sample, most_buckets);
    const KeyMemory<uint8_t> memory(count);
    uint8_t* const bucket_of = memory.data();
    PieceCounts counts(count, buckets.count());
    parallel_for(counts.pieces(), [&](int64_t piece) {
        alignas(64) std::array<Key, kBlock> keys;
        std::array<std::array<int64_t, kMostBuckets>, 4> sums{};  // in turn: a sum waits for its last change
        const int64_t behind = counts.begin_of(piece + 1);
        for (int64_t begin = counts.begin_of(piece); begin < behind; begin += kBlock) {
            const int64_t end = std::min(begin + kBlock, behind);
            load(keys.data(), begin, end);
            buckets.find(std::span<const Key>(keys).first(static_cast<size_t>(end - begin)),
                         bucket_of + begin);
            for (int64_t i = begin; i < end; ++i) ++sums[static_cast<size_t>(i & 3)][bucket_of[i]];
        }
        const std::span<int64_t> own = counts.of(piece);
        for (size_t k = 0; k < own.size(); ++k) own[k] = sums[0][k] + sums[1][k] + sums[2][k] + sums[3][k];
    });
    const std::vector<int64_t> begins = counts.turn_into_places();
    parallel_for(counts.pieces(), [&](int64_t piece) {
        alignas(64) std::array<Key, kBlock> keys;
        std::array<int64_t, kMostBuckets> places;
        std::ranges::copy(counts.of(piece), places.begin());
        const int64_t behind = counts.begin_of(piece + 1);
        for (int64_t begin = counts.begin_of(piece); begin < behind; begin += kBlock) {
            const int64_t end = std::min(begin + kBlock, behind);
            load(keys.data(), begin, end);
            for (int64_t i = begin; i < end; ++i)
                store(places[bucket_of[i]]++, keys[static_cast<size_t>(i - begin)], i);
        }
    });
    std::vector<Bucket> parts;
    for (int k = 0; k < buckets.count(); ++k) {
        const auto number = static_cast<size_t>(k);
        parts.push_back({begins[number], begins[number + 1], buckets.is_of_one_key(k)});
    }
    for_each_bucket(parts, finish);
}

}  // namespace weft
