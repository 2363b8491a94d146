#include "library/ordering/counting_sort.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

#include "core/threads/thread_pool.h"
#include "library/ordering/sort_keys.h"

namespace weft {

namespace {

constexpr int64_t kPiece = int64_t{1} << 16;  // elements
constexpr int64_t kWords = int64_t{1} << 12;  // of bits, of a part
constexpr int64_t kBits = 64;                 // of a word

int64_t parts_of(int64_t count, int64_t part) { return (count + part - 1) / part; }

// Calls work(begin, end) for pieces of [0, count).
template <class Work>
void in_parts(int64_t count, int64_t part, const Work& work) {
    parallel_for(parts_of(count, part), [&](int64_t k) { work(k * part, std::min(count, (k + 1) * part)); });
}

int64_t useful_tasks(int64_t count) {
    return in_parallel_task() ? 1 : std::clamp<int64_t>(count / kPiece, 1, num_threads());
}

// With work(T{}) for the row's type.
template <class Work>
void with_type(ScalarType type, const Work& work) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) work(T{});
    });
}

template <class T>
auto key_at(const char* data, int64_t i) {
    return SortKeys<T>::of(data + i * static_cast<int64_t>(sizeof(T)), false);
}

template <class Word>
std::span<Word> words_of(const BufferPtr& buffer) {
    return {reinterpret_cast<Word*>(buffer->data()), buffer->size() / sizeof(Word)};
}

// Of every `step`th element.
template <class T, class Step>
KeyRange range_of(const char* data, int64_t begin, int64_t end, Step step) {
    auto low = key_at<T>(data, begin), high = low;
    for (int64_t i = begin; i < end; i += step) {
        const auto key = key_at<T>(data, i);
        low = std::min(low, key);
        high = std::max(high, key);
    }
    return {low, uint64_t{high} - low};
}

// Sets the bits of all keys. Each thread has bits of its own; if these were too much memory, all have the
// same.
template <class T>
void mark(const IntegerRow& row, const KeyRange& range, std::span<uint64_t> bits) {
    const auto low = static_cast<typename SortKeys<T>::Bits>(range.low);
    const auto words = static_cast<int64_t>(bits.size());
    int64_t tasks = useful_tasks(row.count);
    const bool shared = tasks > 1 && tasks * words * kBits > 32 * row.count;
    const int64_t others = shared ? 0 : tasks - 1;
    const BufferPtr memory = cpu_device().allocate(static_cast<size_t>(others * words) * sizeof(uint64_t));
    const auto own = [&](int64_t task) {
        return shared || task == 0 ? bits.data() : words_of<uint64_t>(memory).data() + (task - 1) * words;
    };
    if (shared) std::fill(bits.begin(), bits.end(), 0);
    std::atomic<int64_t> next{0};
    parallel_for(tasks, [&](int64_t task) {
        uint64_t* const to = own(task);
        if (!shared) std::fill_n(to, words, 0);
        for (int64_t piece = 0;
             (piece = next.fetch_add(1, std::memory_order_relaxed)) * kPiece < row.count;) {
            const int64_t end = std::min(row.count, (piece + 1) * kPiece);
            for (int64_t i = piece * kPiece; i < end; ++i) {
                const auto offset =
                    static_cast<uint64_t>(static_cast<decltype(low)>(key_at<T>(row.data, i) - low));
                const uint64_t bit = uint64_t{1} << (offset % kBits);
                if (!shared) {
                    to[offset / kBits] |= bit;
                    continue;
                }
                const std::atomic_ref<uint64_t> word(to[offset / kBits]);
                if ((word.load(std::memory_order_relaxed) & bit) == 0)
                    word.fetch_or(bit, std::memory_order_relaxed);
            }
        }
    });
    if (others == 0) return;
    in_parts(words, kWords, [&](int64_t begin, int64_t end) {
        for (int64_t task = 1; task < tasks; ++task) {
            const uint64_t* const from = own(task);
            for (int64_t k = begin; k < end; ++k) bits[static_cast<size_t>(k)] |= from[k];
        }
    });
}

// What is gathered of the different values by one part of the row, and combined by value.
struct Tables {
    int64_t parts;
    BufferPtr counts, first;  // uint32, a row for each part; none where not asked for
};

constexpr uint32_t kNowhere = UINT32_MAX;

Tables make_tables(int64_t elements, int64_t different, bool counts, bool first) {
    if (!counts && !first) return {parts_of(elements, kPiece), {}, {}};
    Tables tables{std::min(useful_tasks(elements), std::max<int64_t>(1, 2 * elements / different)), {}, {}};
    const auto bytes = static_cast<size_t>(tables.parts * different) * sizeof(uint32_t);
    if (counts) tables.counts = cpu_device().allocate(bytes);
    if (first) tables.first = cpu_device().allocate(bytes);
    return tables;
}

}  // namespace

std::optional<KeyRange> range_if_dense(const IntegerRow& row, uint64_t most) {
    if (row.count == 0 || row.count >= int64_t{kNowhere}) return std::nullopt;
    constexpr int64_t kSamples = 64;
    std::optional<KeyRange> result;
    with_type(row.type, [&](auto of_type) {
        using T = decltype(of_type);
        const KeyRange few = range_of<T>(row.data, 0, row.count, std::max<int64_t>(1, row.count / kSamples));
        if (few.width > most) return;
        std::vector<KeyRange> found(static_cast<size_t>(parts_of(row.count, kPiece)));
        in_parts(row.count, kPiece, [&](int64_t begin, int64_t end) {
            found[static_cast<size_t>(begin / kPiece)] =
                range_of<T>(row.data, begin, end, std::integral_constant<int64_t, 1>());
        });
        uint64_t low = found[0].low, high = low;
        for (const KeyRange& each : found) {
            low = std::min(low, each.low);
            high = std::max(high, each.low + each.width);
        }
        if (high - low <= most) result = {low, high - low};
    });
    return result;
}

uint64_t UniqueIntegers::most_apart(int64_t count) {
    constexpr uint64_t kFew = 4096, kTimes = 16;
    return std::max(kFew, kTimes * static_cast<uint64_t>(count)) - 1;
}

UniqueIntegers::UniqueIntegers(const IntegerRow& row, const KeyRange& range) : row_(row), range_(range) {
    const auto words = static_cast<int64_t>(range.width / kBits + 1);
    bits_ = cpu_device().allocate(static_cast<size_t>(words) * sizeof(uint64_t));
    ranks_ = cpu_device().allocate(static_cast<size_t>(words) * sizeof(uint32_t));
    const std::span<uint64_t> bits = words_of<uint64_t>(bits_).first(static_cast<size_t>(words));
    with_type(row.type, [&](auto of_type) { mark<decltype(of_type)>(row, range, bits); });
    before_.resize(static_cast<size_t>(parts_of(words, kWords)) + 1);
    in_parts(words, kWords, [&](int64_t begin, int64_t end) {
        int64_t count = 0;
        for (int64_t k = begin; k < end; ++k) count += std::popcount(bits[static_cast<size_t>(k)]);
        before_[static_cast<size_t>(begin / kWords) + 1] = count;
    });
    for (size_t k = 1; k < before_.size(); ++k) before_[k] += before_[k - 1];
}

void UniqueIntegers::write_values(char* to) const {
    const std::span<const uint64_t> bits = words_of<uint64_t>(bits_);
    with_type(row_.type, [&](auto of_type) {
        using T = decltype(of_type);
        using Bits = typename SortKeys<T>::Bits;
        in_parts(static_cast<int64_t>(range_.width / kBits + 1), kWords, [&](int64_t begin, int64_t end) {
            char* out = to + before_[static_cast<size_t>(begin / kWords)] * static_cast<int64_t>(sizeof(T));
            for (int64_t k = begin; k < end; ++k) {
                const uint64_t start = range_.low + static_cast<uint64_t>(k * kBits);
                for (uint64_t word = bits[static_cast<size_t>(k)]; word != 0; word &= word - 1) {
                    SortKeys<T>::back(
                        static_cast<Bits>(start + static_cast<uint64_t>(std::countr_zero(word))), out);
                    out += sizeof(T);
                }
            }
        });
    });
}

void UniqueIntegers::describe(int64_t* first, int64_t* counts, int64_t* inverse) const {
    const std::span<const uint64_t> bits = words_of<uint64_t>(bits_);
    const std::span<uint32_t> ranks = words_of<uint32_t>(ranks_);
    in_parts(static_cast<int64_t>(range_.width / kBits + 1), kWords, [&](int64_t begin, int64_t end) {
        auto rank = static_cast<uint32_t>(before_[static_cast<size_t>(begin / kWords)]);
        for (auto k = static_cast<size_t>(begin); k < static_cast<size_t>(end); ++k) {
            ranks[k] = rank;
            rank += static_cast<uint32_t>(std::popcount(bits[k]));
        }
    });
    const int64_t different = count();
    const Tables tables = make_tables(row_.count, different, counts != nullptr, first != nullptr);
    const auto table = [&](const BufferPtr& memory, int64_t part) {
        return memory ? words_of<uint32_t>(memory).data() + part * different : nullptr;
    };
    with_type(row_.type, [&](auto of_type) {
        using T = decltype(of_type);
        using Bits = typename SortKeys<T>::Bits;
        const auto low = static_cast<Bits>(range_.low);
        parallel_for(tables.parts, [&](int64_t part) {
            uint32_t* const own_counts = table(tables.counts, part);
            uint32_t* const own_first = table(tables.first, part);
            if (own_counts != nullptr) std::fill_n(own_counts, different, 0);
            if (own_first != nullptr) std::fill_n(own_first, different, kNowhere);
            const int64_t begin = row_.count * part / tables.parts;
            for (int64_t i = row_.count * (part + 1) / tables.parts;
                 i-- > begin;) {  // the first one is written last
                const auto offset = static_cast<uint64_t>(static_cast<Bits>(key_at<T>(row_.data, i) - low));
                const uint64_t below = bits[offset / kBits] & ((uint64_t{1} << (offset % kBits)) - 1);
                const uint32_t rank = ranks[offset / kBits] + static_cast<uint32_t>(std::popcount(below));
                if (own_counts != nullptr) ++own_counts[rank];
                if (own_first != nullptr) own_first[rank] = static_cast<uint32_t>(i);
                if (inverse != nullptr) inverse[i] = rank;
            }
        });
    });
    if (!tables.counts && !tables.first) return;
    in_parts(different, kPiece, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            if (counts != nullptr) {
                int64_t sum = 0;
                for (int64_t part = 0; part < tables.parts; ++part) sum += table(tables.counts, part)[k];
                counts[k] = sum;
            }
            if (first != nullptr) {
                uint32_t least = kNowhere;
                for (int64_t part = 0; part < tables.parts; ++part)
                    least = std::min(least, table(tables.first, part)[k]);
                first[k] = least;
            }
        }
    });
}

bool try_to_sort_by_counts(const IntegerRow& row, char* to) {
    constexpr int64_t kLeast = 1024, kTimes = 4;
    if (row.count < kLeast) return false;
    const std::optional<KeyRange> range = range_if_dense(row, static_cast<uint64_t>(row.count / kTimes) - 1);
    if (!range) return false;
    const auto keys = static_cast<int64_t>(range->width) + 1;
    const int64_t tasks = std::min(useful_tasks(row.count), row.count / keys);
    const BufferPtr memory = cpu_device().allocate(static_cast<size_t>(tasks * keys) * sizeof(uint32_t));
    const auto table = [&](int64_t task) { return words_of<uint32_t>(memory).data() + task * keys; };
    with_type(row.type, [&](auto of_type) {
        using T = decltype(of_type);
        using Bits = typename SortKeys<T>::Bits;
        const auto low = static_cast<Bits>(range->low);
        std::atomic<int64_t> next{0};
        parallel_for(tasks, [&](int64_t task) {
            uint32_t* const counts = table(task);
            std::fill_n(counts, keys, 0);
            for (int64_t piece = 0;
                 (piece = next.fetch_add(1, std::memory_order_relaxed)) * kPiece < row.count;) {
                const int64_t end = std::min(row.count, (piece + 1) * kPiece);
                for (int64_t i = piece * kPiece; i < end; ++i)
                    ++counts[static_cast<Bits>(key_at<T>(row.data, i) - low)];
            }
        });
        // How many are not above each key, in the first table.
        std::vector<uint32_t> before(static_cast<size_t>(parts_of(keys, kPiece)) + 1);
        uint32_t* const ends = table(0);
        in_parts(keys, kPiece, [&](int64_t begin, int64_t end) {
            for (int64_t task = 1; task < tasks; ++task) {
                const uint32_t* const counts = table(task);
                for (int64_t k = begin; k < end; ++k) ends[k] += counts[k];
            }
            for (int64_t k = begin + 1; k < end; ++k) ends[k] += ends[k - 1];
            before[static_cast<size_t>(begin / kPiece) + 1] = ends[end - 1];
        });
        for (size_t k = 1; k < before.size(); ++k) before[k] += before[k - 1];
        in_parts(keys, kPiece, [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) ends[k] += before[static_cast<size_t>(begin / kPiece)];
        });
        in_parts(row.count, kPiece, [&](int64_t begin, int64_t end) {
            const uint32_t* key = std::upper_bound(ends, ends + keys, static_cast<uint32_t>(begin));
            auto* out = reinterpret_cast<T*>(to) + begin;
            for (int64_t i = begin; i < end; ++key) {
                T value;
                SortKeys<T>::back(static_cast<Bits>(low + static_cast<Bits>(key - ends)),
                                  reinterpret_cast<char*>(&value));
                const int64_t last = std::min<int64_t>(*key, end);
                for (; i < last; ++i) *out++ = value;
            }
        });
    });
    return true;
}

void find_members(const IntegerRow& elements, const IntegerRow& wanted, const KeyRange& range, bool invert,
                  bool* found) {
    const auto words = static_cast<int64_t>(range.width / kBits + 1);
    const BufferPtr memory = cpu_device().allocate(static_cast<size_t>(words) * sizeof(uint64_t));
    const std::span<uint64_t> bits = words_of<uint64_t>(memory).first(static_cast<size_t>(words));
    with_type(wanted.type, [&](auto of_wanted) {
        using Wanted = decltype(of_wanted);
        mark<Wanted>(wanted, range, bits);
        Wanted least;
        SortKeys<Wanted>::back(static_cast<typename SortKeys<Wanted>::Bits>(range.low),
                               reinterpret_cast<char*>(&least));
        with_type(elements.type, [&](auto of_element) {
            using Element = decltype(of_element);
            // Differences modulo 2^64 of numbers that both types' ranges have.
            const auto low = static_cast<uint64_t>(static_cast<int64_t>(least));
            in_parts(elements.count, kPiece, [&](int64_t begin, int64_t end) {
                const char* from = elements.data + begin * static_cast<int64_t>(sizeof(Element));
                for (int64_t i = begin; i < end; ++i, from += sizeof(Element)) {
                    const Element x = load_element<Element>(from);
                    bool is_in = true;
                    if constexpr (std::is_signed_v<Element> && std::is_unsigned_v<Wanted>) is_in = x >= 0;
                    if constexpr (std::is_same_v<Element, uint64_t> && std::is_signed_v<Wanted>)
                        is_in = x <= uint64_t{INT64_MAX};
                    const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(x)) - low;
                    is_in =
                        is_in && offset <= range.width && (bits[offset / kBits] >> (offset % kBits) & 1) != 0;
                    found[i] = is_in != invert;
                }
            });
        });
    });
}

}  // namespace weft
