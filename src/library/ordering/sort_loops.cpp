#include "library/ordering/sort_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/complex.h"
#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "library/ordering/counting_sort.h"
#include "library/ordering/cpu/float_keys.h"
#include "library/ordering/cpu/vector_sort.h"
#include "library/ordering/key_order.h"
#include "library/ordering/sample_sort.h"
#include "library/ordering/sort_keys.h"

namespace weft {

namespace {

constexpr int64_t kWorthThreads = int64_t{1} << 16;  // keys; fewer are sorted by one thread
constexpr int64_t kLeastChunk = int64_t{1} << 14;

// ---- sorted chunks, merged ----

// How many of the first `rank` elements of both together, in order, are of `a`; of equal ones a's come first.
template <class Key, class Less>
int64_t elements_of_first(std::span<const Key> a, std::span<const Key> b, int64_t rank, const Less& less) {
    const auto count_a = static_cast<int64_t>(a.size()), count_b = static_cast<int64_t>(b.size());
    int64_t low = std::max<int64_t>(0, rank - count_b), high = std::min(rank, count_a);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const auto other = static_cast<size_t>(rank - middle - 1);
        if (less(b[other], a[static_cast<size_t>(middle)])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

template <class Key, class Less>
void merge_range(std::span<const Key> a, std::span<const Key> b, int64_t begin, int64_t end, Key* out,
                 const Less& less) {
    const int64_t first = elements_of_first(a, b, begin, less), last = elements_of_first(a, b, end, less);
    const Key *from_a = a.data() + first, *from_b = b.data() + (begin - first);
    const Key *const end_a = a.data() + last, *const end_b = b.data() + (end - last);
    Key* to = out + begin;
    while (from_a != end_a && from_b != end_b) {  // without a branch that nobody can foretell
        const bool take_b = less(*from_b, *from_a);
        *to++ = take_b ? *from_b : *from_a;
        from_b += take_b;
        from_a += !take_b;
    }
    to = std::copy(from_a, end_a, to);
    std::copy(from_b, end_b, to);
}

// Fills `keys` by load(to, begin, end), which writes the keys of these positions from `to` on, sorts them,
// and calls finish(begin, end) for parts of the result. Chunks are sorted side by side, then neighbours are
// merged, each round on all threads, back and forth between `keys` and other memory, so that the last round
// ends in `keys`.
template <class Key, class Load, class SortChunk, class Less, class Finish>
void sort_row(std::span<Key> keys, const Load& load, const SortChunk& sort_chunk, const Less& less,
              const Finish& finish) {
    const auto count = static_cast<int64_t>(keys.size());
    const int64_t chunks = count < kWorthThreads ? 1 : std::min<int64_t>(num_threads(), count / kLeastChunk);
    if (chunks < 2) {
        load(keys.data(), int64_t{0}, count);
        sort_chunk(keys);
        finish(int64_t{0}, count);
        return;
    }
    std::vector<int64_t> bounds;
    for (int64_t k = 0; k <= chunks; ++k) bounds.push_back(count * k / chunks);
    const KeyMemory<Key> memory(count);
    const bool odd_rounds = std::bit_width(static_cast<uint64_t>(chunks - 1)) % 2 == 1;
    Key *from = odd_rounds ? memory.data() : keys.data(), *to = odd_rounds ? keys.data() : memory.data();
    parallel_for(chunks, [&](int64_t k) {
        const int64_t begin = bounds[static_cast<size_t>(k)], end = bounds[static_cast<size_t>(k) + 1];
        load(from + begin, begin, end);
        sort_chunk(std::span<Key>(from + begin, static_cast<size_t>(end - begin)));
    });
    while (bounds.size() > 2) {
        std::vector<int64_t> merged = {0};
        for (size_t k = 2; k < bounds.size(); k += 2) merged.push_back(bounds[k]);
        if (bounds.size() % 2 == 0) merged.push_back(bounds.back());
        const auto pairs = static_cast<int64_t>(merged.size()) - 1;
        const int64_t parts = std::max<int64_t>((4 * num_threads() + pairs - 1) / pairs, 1);
        parallel_for(pairs * parts, [&](int64_t task) {
            const auto pair = static_cast<size_t>(task / parts);
            const int64_t part = task % parts, begin = merged[pair], end = merged[pair + 1];
            const int64_t middle = std::min(bounds[2 * pair + 1], end);
            const auto span = [&](int64_t first, int64_t last) {
                return std::span<const Key>(from + first, static_cast<size_t>(last - first));
            };
            const int64_t first = (end - begin) * part / parts, last = (end - begin) * (part + 1) / parts;
            merge_range(span(begin, middle), span(middle, end), first, last, to + begin, less);
            if (pairs == 1) finish(begin + first, begin + last);
        });
        std::swap(from, to);
        bounds = std::move(merged);
    }
}

// ---- rows ----

// Vector registers sort at the speed of memory: a finer division costs as much as it spares.
constexpr int64_t kCachesInBucket = 8;

// For the keys of one row after another.
template <class Key>
class RowMemory {
public:
    std::span<Key> of(int64_t count) {
        if (!memory_) memory_.emplace(count);
        return {memory_->data(), static_cast<size_t>(count)};
    }

private:
    std::optional<KeyMemory<Key>> memory_;
};

// Many rows side by side, few one after another, each on all threads.
template <class Key, class Work>
void for_each_row(int64_t rows, int64_t length, const Work& work) {
    const auto in_order = [&](int64_t begin, int64_t end) {
        RowMemory<Key> memory;
        for (int64_t row = begin; row < end; ++row) work(row, memory);
    };
    if (rows < 2 * num_threads() && length >= kWorthThreads) {
        in_order(0, rows);
        return;
    }
    const int64_t tasks = std::min<int64_t>(rows, rows * length < kLeastChunk ? 1 : 4 * num_threads());
    parallel_for(tasks, [&](int64_t task) { in_order(rows * task / tasks, rows * (task + 1) / tasks); });
}

// The keys of a row's elements, with one for zeros of both signs where positions are wanted.
template <class T, class Key>
void load_keys(const SortedRow& row, bool merge_zeros, int64_t begin, int64_t end, Key* to) {
    using Keys = SortKeys<T>;
    const char* const from = row.from + begin * row.from_stride;
    if constexpr (Keys::kFloating && std::is_same_v<Key, typename Keys::Bits>) {
        if (row.from_stride == int64_t{sizeof(T)}) {
            FloatKeys<Key>{Keys::kInfinity}.make(from, merge_zeros, {to, static_cast<size_t>(end - begin)});
            return;
        }
    }
    with_stride<T>(row.from_stride, [&](auto stride) {
        for (int64_t i = 0; i < end - begin; ++i) to[i] = Keys::of(from + i * stride, merge_zeros);
    });
}

// Writes the elements of keys that are in order, which may lie where they are written.
template <class T, class Key>
void store_elements(const SortedRow& row, int64_t begin, std::span<Key> keys) {
    using Keys = SortKeys<T>;
    char* const to = row.to + begin * row.to_stride;
    if (reinterpret_cast<char*>(keys.data()) == to) {
        if constexpr (Keys::kFloating) {
            FloatKeys<Key>{Keys::kInfinity}.turn_back(keys);
        } else if constexpr (std::is_signed_v<T>) {
            for (Key& key : keys) key = static_cast<Key>(key ^ Keys::kSign);
        }
        return;
    }
    for (size_t i = 0; i < keys.size(); ++i)
        Keys::back(keys[i], to + static_cast<int64_t>(i) * row.to_stride);
}

// Where keys are put in order: in the result itself if its elements are as large and lie side by side.
template <class Key>
std::span<Key> place_for_keys(const SortedRow& row, int64_t length, RowMemory<Key>& memory) {
    if (row.to_stride != int64_t{sizeof(Key)}) return memory.of(length);
    return {reinterpret_cast<Key*>(row.to), static_cast<size_t>(length)};
}

template <class Key>
std::span<Key> keys_of(const Bucket& bucket, std::span<Key> keys) {
    return keys.subspan(static_cast<size_t>(bucket.begin), static_cast<size_t>(bucket.end - bucket.begin));
}

// Of one byte: counted.
template <class T>
void sort_bytes(const SortedRow& row, int64_t length) {
    std::array<int64_t, 256> counts{};
    for (int64_t i = 0; i < length; ++i) ++counts[SortKeys<T>::of(row.from + i * row.from_stride, false)];
    char* to = row.to;
    for (size_t key = 0; key < counts.size(); ++key) {
        for (int64_t k = 0; k < counts[key]; ++k, to += row.to_stride)
            SortKeys<T>::back(static_cast<uint8_t>(key), to);
    }
}

template <class T>
void sort_real_rows(int64_t rows, int64_t length, const std::function<SortedRow(int64_t)>& row_at) {
    if constexpr (sizeof(T) == 1) {
        const SortedRow first = row_at(0);
        if (rows == 1 && first.from_stride == 1 && first.to_stride == 1 &&
            try_to_sort_by_counts({scalar_type_of<T>, first.from, length}, first.to))
            return;
        parallel_for(rows, [&](int64_t row) { sort_bytes<T>(row_at(row), length); });
    } else {
        using Key = typename SortKeys<T>::Bits;
        for_each_row<Key>(rows, length, [&](int64_t number, RowMemory<Key>& memory) {
            const SortedRow row = row_at(number);
            if constexpr (std::is_integral_v<T>) {
                if (row.from_stride == int64_t{sizeof(T)} && row.to_stride == int64_t{sizeof(T)} &&
                    try_to_sort_by_counts({scalar_type_of<T>, row.from, length}, row.to))
                    return;
            }
            const std::span<Key> keys = place_for_keys(row, length, memory);
            const auto load = [&](Key* to, int64_t begin, int64_t end) {
                load_keys<T>(row, false, begin, end, to);
            };
            const auto finish = [&](const Bucket& bucket) {
                const std::span<Key> own = keys_of(bucket, keys);
                if (!bucket.in_order) vector_sort(own);
                store_elements<T>(row, bucket.begin, own);
            };
            if (const int buckets = buckets_worth_it(
                    length, kCachesInBucket * cpu_device().core_cache_bytes() / int64_t{sizeof(Key)});
                buckets > 1) {
                const auto store = [&](int64_t to, Key key, int64_t) { keys[static_cast<size_t>(to)] = key; };
                split_sort<Key>(length, buckets, load, store, finish);
            } else {
                load(keys.data(), 0, length);
                finish({0, length, false});
            }
        });
    }
}

void put_position(const SortedRow& row, int64_t i, uint64_t position) {
    std::memcpy(row.to + i * row.to_stride, &position, sizeof position);
}

// Key and position in one number, so that equal keys keep their order.
template <class T>
void argsort_packed(int64_t rows, int64_t length, const std::function<SortedRow(int64_t)>& row_at) {
    using Key = std::conditional_t<sizeof(T) == 1, uint16_t, typename SortKeys<T>::Bits>;
    for_each_row<uint64_t>(rows, length, [&](int64_t number, RowMemory<uint64_t>& memory) {
        const SortedRow row = row_at(number);
        const std::span<uint64_t> keys = place_for_keys(row, length, memory);
        const auto load = [&](Key* to, int64_t begin, int64_t end) {
            load_keys<T>(row, true, begin, end, to);
        };
        const auto store = [&](int64_t to, Key key, int64_t position) {
            keys[static_cast<size_t>(to)] = uint64_t{key} << 32 | static_cast<uint64_t>(position);
        };
        const auto finish = [&](const Bucket& bucket) {
            if (!bucket.in_order) vector_sort(keys_of(bucket, keys));
            for (int64_t i = bucket.begin; i < bucket.end; ++i)
                put_position(row, i, keys[static_cast<size_t>(i)] & 0xffffffff);
        };
        if (const int buckets = buckets_worth_it(
                length, kCachesInBucket * cpu_device().core_cache_bytes() / int64_t{sizeof(uint64_t)});
            buckets > 1) {
            split_sort<Key>(length, buckets, load, store, finish);
        } else {
            for (int64_t i = 0; i < length; ++i)
                store(i, SortKeys<T>::of(row.from + i * row.from_stride, true), i);
            finish({0, length, false});
        }
    });
}

// Keys and positions apart, since both together fill more than 64 bits. Where a row is split, keys wait where
// their positions will be.
template <class T, class Position>
void argsort_apart(int64_t rows, int64_t length, const std::function<SortedRow(int64_t)>& row_at) {
    for_each_row<uint64_t>(rows, length, [&](int64_t number, RowMemory<uint64_t>& memory) {
        const SortedRow row = row_at(number);
        // Half a cache for the keys, the numbers that are sorted, and the positions.
        const int buckets = buckets_worth_it(
            length, cpu_device().core_cache_bytes() / 2 / int64_t{2 * sizeof(uint64_t) + sizeof(Position)});
        if (buckets == 1) {
            const std::span<uint64_t> both = memory.of(2 * length);
            const auto keys = both.first(static_cast<size_t>(length)), order = both.subspan(keys.size());
            load_keys<T>(row, true, 0, length, keys.data());
            order_of_keys(keys, order);
            for (int64_t i = 0; i < length; ++i) put_position(row, i, order[static_cast<size_t>(i)]);
            return;
        }
        const std::span<uint64_t> keys = place_for_keys(row, length, memory);
        const KeyMemory<Position> positions(length);
        split_sort<uint64_t>(
            length, buckets,
            [&](uint64_t* to, int64_t begin, int64_t end) { load_keys<T>(row, true, begin, end, to); },
            [&](int64_t to, uint64_t key, int64_t position) {
                keys[static_cast<size_t>(to)] = key;
                positions.data()[to] = static_cast<Position>(position);
            },
            [&](const Bucket& bucket) {
                const Position* const own = positions.data() + bucket.begin;
                const int64_t count = bucket.end - bucket.begin;
                if (bucket.in_order) {
                    for (int64_t i = 0; i < count; ++i) put_position(row, bucket.begin + i, own[i]);
                    return;
                }
                // Few sizes, so that the pool has one for each thread and no more.
                const KeyMemory<uint64_t> order(
                    static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count))));
                order_of_keys(keys_of(bucket, keys), {order.data(), static_cast<size_t>(count)});
                for (int64_t i = 0; i < count; ++i) put_position(row, bucket.begin + i, own[order.data()[i]]);
            });
    });
}

template <class T>
T element_at(const char* from, int64_t stride, int64_t i) {
    T value;
    std::memcpy(&value, from + i * stride, sizeof value);
    return value;
}

template <class Complex>
struct Numbered {
    Complex value;
    int64_t position;
};

template <class Complex, class Write>
void order_complex_rows(int64_t rows, int64_t length, const std::function<SortedRow(int64_t)>& row_at,
                        const Write& write) {
    using Key = Numbered<Complex>;
    const auto less = [](const Key& a, const Key& b) { return complex_less(a.value, b.value); };
    for_each_row<Key>(rows, length, [&](int64_t number, RowMemory<Key>& memory) {
        const SortedRow row = row_at(number);
        const std::span<Key> keys = memory.of(length);
        sort_row(
            keys,
            [&](Key* to, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i)
                    *to++ = {element_at<Complex>(row.from, row.from_stride, i), i};
            },
            [&](std::span<Key> chunk) { std::stable_sort(chunk.begin(), chunk.end(), less); }, less,
            [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i)
                    write(keys[static_cast<size_t>(i)], row.to + i * row.to_stride);
            });
    });
}

template <class T>
constexpr bool is_complex_type = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

}  // namespace

void sort_rows(ScalarType type, int64_t rows, int64_t length,
               const std::function<SortedRow(int64_t row)>& row_at) {
    if (rows * length == 0) return;
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (is_complex_type<T>) {
            order_complex_rows<T>(rows, length, row_at, [](const Numbered<T>& key, char* to) {
                std::memcpy(to, &key.value, sizeof key.value);
            });
        } else {
            sort_real_rows<T>(rows, length, row_at);
        }
    });
}

void argsort_rows(ScalarType type, int64_t rows, int64_t length,
                  const std::function<SortedRow(int64_t row)>& row_at) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (is_complex_type<T>) {
            order_complex_rows<T>(rows, length, row_at, [](const Numbered<T>& key, char* to) {
                std::memcpy(to, &key.position, sizeof key.position);
            });
        } else if (length > int64_t{0xffffffff}) {
            argsort_apart<T, uint64_t>(rows, length, row_at);
        } else if constexpr (sizeof(T) <= 4) {
            argsort_packed<T>(rows, length, row_at);
        } else {
            argsort_apart<T, uint32_t>(rows, length, row_at);
        }
    });
}

namespace {

// Memory for the keys of a short row.
template <class Key>
class ShortKeys {
public:
    explicit ShortKeys(int64_t length) {
        if (length > kOnStack) more_.emplace(length);
    }
    Key* data() { return more_ ? more_->data() : reinterpret_cast<Key*>(own_); }

private:
    static constexpr int64_t kOnStack = 128;
    alignas(64) char own_[kOnStack * sizeof(Key)];
    std::optional<KeyMemory<Key>> more_;
};

// Key and position in one number, so that equal keys keep their order.
template <class T, class Packed>
Packed packed_key(const char* from, int64_t position) {
    const uint64_t key = SortKeys<T>::of(from, true);
    if constexpr (std::is_same_v<Packed, WideKey>) {
        return {static_cast<uint64_t>(position), key};
    } else {
        return key << 32 | static_cast<uint64_t>(position);
    }
}
int64_t position_of(const WideKey& key) { return static_cast<int64_t>(key.low); }
int64_t position_of(uint64_t key) { return static_cast<int64_t>(key & 0xffffffff); }

// So few that comparing each with those before it is less than to begin anything else.
constexpr int64_t kInserted = 8;

template <class Key>
void insert_in_order(Key* keys, int64_t length) {
    for (int64_t i = 1; i < length; ++i) {
        const Key key = keys[i];
        int64_t place = i;
        for (; place > 0 && key < keys[place - 1]; --place) keys[place] = keys[place - 1];
        keys[place] = key;
    }
}

template <class Key>
void sort_short(Key* keys, int64_t length) {
    if (length <= kInserted) {
        insert_in_order(keys, length);
    } else if constexpr (sizeof(Key) == 1) {
        std::sort(keys, keys + length);
    } else {
        vector_sort(std::span<Key>(keys, static_cast<size_t>(length)));
    }
}

}  // namespace

void sort_short_row(ScalarType type, int64_t length, const SortedRow& row) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (!is_complex_type<T>) {
            using Keys = SortKeys<T>;
            ShortKeys<typename Keys::Bits> memory(length);
            auto* const keys = memory.data();
            with_stride<T>(row.from_stride, [&](auto stride) {
                for (int64_t i = 0; i < length; ++i) keys[i] = Keys::of(row.from + i * stride, false);
            });
            sort_short(keys, length);
            with_stride<T>(row.to_stride, [&](auto stride) {
                for (int64_t i = 0; i < length; ++i) Keys::back(keys[i], row.to + i * stride);
            });
        }
    });
}

void argsort_short_row(ScalarType type, int64_t length, const SortedRow& row) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (!is_complex_type<T>) {
            using Packed = std::conditional_t<sizeof(T) <= 4, uint64_t, WideKey>;
            ShortKeys<Packed> memory(length);
            Packed* const keys = memory.data();
            for (int64_t i = 0; i < length; ++i)
                keys[i] = packed_key<T, Packed>(row.from + i * row.from_stride, i);
            sort_short(keys, length);
            for (int64_t i = 0; i < length; ++i) {
                const int64_t position = position_of(keys[i]);
                std::memcpy(row.to + i * row.to_stride, &position, sizeof position);
            }
        }
    });
}

}  // namespace weft
