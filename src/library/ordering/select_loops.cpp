#include "library/ordering/select_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/complex.h"
#include "core/scalar_traits.h"
#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "library/ordering/cpu/vector_sort.h"
#include "library/ordering/sort_keys.h"

namespace weft {

namespace {

constexpr int64_t kSorted = 2048;             // keys that are sorted rather than divided
constexpr int64_t kChunk = int64_t{1} << 15;  // keys that a thread divides at a time
constexpr int64_t kMostSamples = 4096;
constexpr int kMostRounds = 16;  // that hardly divide anything, before all is sorted

template <class Key>
constexpr Key kSmallest{};
template <class Key>
constexpr Key kLargest = std::numeric_limits<Key>::max();
template <>
constexpr WideKey kLargest<WideKey>{~uint64_t{0}, ~uint64_t{0}};

// Divides keys between two pivots that are taken from a sample, so that the wanted places nearly surely lie
// in the narrow middle, and goes on there (Floyd and Rivest, "Expected time bounds for selection", 1975).
template <class Key>
class Selection {
public:
    Selection(std::span<Key> keys, Key* scratch) : keys_(keys.data()), scratch_(scratch) {}

    // Ascending places in [begin, end).
    void narrow(int64_t begin, int64_t end, std::span<const int64_t> places) {
        if (places.empty()) return;
        const int64_t count = end - begin;
        if (count <= kSorted || rounds_ > kMostRounds) {
            vector_sort(std::span<Key>(keys_ + begin, static_cast<size_t>(count)));
            return;
        }
        const std::vector<Key> sample = sample_of(begin, count);
        const auto samples = static_cast<int64_t>(sample.size());
        // Three standard deviations of the rank that a sample's element has.
        const auto margin = static_cast<int64_t>(1.5 * std::sqrt(static_cast<double>(samples))) + 1;
        const auto rank_of = [&](int64_t place) {
            return static_cast<int64_t>(static_cast<double>(place - begin) * static_cast<double>(samples) /
                                        static_cast<double>(count));
        };
        const int64_t low = rank_of(places.front()) - margin, high = rank_of(places.back()) + margin;
        if (places.size() > 1 && high - low > 4 * margin) {
            const size_t half = behind_widest_gap(places);
            narrow(begin, end, places.first(half));
            narrow(places[half - 1] + 1, end, places.subspan(half));
            return;
        }
        const Key least = low < 0 ? kSmallest<Key> : sample[static_cast<size_t>(low)];
        const Key most = high >= samples ? kLargest<Key> : sample[static_cast<size_t>(high)];
        const auto [smaller, larger] = divide(begin, end, least, most);
        const int64_t from = begin + smaller, to = end - larger;
        if (std::max({smaller, larger, to - from}) > count / 8 * 7) ++rounds_;
        const auto before = std::lower_bound(places.begin(), places.end(), from) - places.begin();
        const auto behind = std::lower_bound(places.begin(), places.end(), to) - places.begin();
        narrow(begin, from, places.first(static_cast<size_t>(before)));
        if (!(least == most))
            narrow(from, to,
                   places.subspan(static_cast<size_t>(before), static_cast<size_t>(behind - before)));
        narrow(to, end, places.subspan(static_cast<size_t>(behind)));
    }

private:
    struct Sides {
        int64_t smaller = 0, larger = 0;
    };

    std::vector<Key> sample_of(int64_t begin, int64_t count) {
        std::vector<Key> sample(static_cast<size_t>(std::clamp<int64_t>(count / 64, 64, kMostSamples)));
        for (Key& key : sample) {
            state_ = state_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's
            key = keys_[begin + static_cast<int64_t>((state_ >> 32) * static_cast<uint64_t>(count) >> 32)];
        }
        vector_sort(std::span<Key>(sample));
        return sample;
    }

    static size_t behind_widest_gap(std::span<const int64_t> places) {
        size_t best = 1;
        for (size_t k = 2; k < places.size(); ++k) {
            if (places[k] - places[k - 1] > places[best] - places[best - 1]) best = k;
        }
        return best;
    }

    // Keys below `least` first, those above `most` last.
    Sides divide(int64_t begin, int64_t end, const Key& least, const Key& most) {
        const int64_t chunks = (end - begin + kChunk - 1) / kChunk;
        std::vector<Sides> sides(static_cast<size_t>(chunks));
        const auto begin_of = [&](int64_t chunk) { return std::min(begin + chunk * kChunk, end); };
        parallel_for(chunks, [&](int64_t chunk) {
            sides[static_cast<size_t>(chunk)] =
                divide_chunk(begin_of(chunk), begin_of(chunk + 1), least, most);
        });
        Sides all;
        for (const Sides& each : sides) {
            all.smaller += each.smaller;
            all.larger += each.larger;
        }
        std::vector<std::array<int64_t, 3>> targets(sides.size());
        std::array<int64_t, 3> next = {begin, begin + all.smaller, end - all.larger};
        for (size_t k = 0; k < sides.size(); ++k) {
            targets[k] = next;
            const int64_t size = begin_of(static_cast<int64_t>(k) + 1) - begin_of(static_cast<int64_t>(k));
            next[0] += sides[k].smaller;
            next[1] += size - sides[k].smaller - sides[k].larger;
            next[2] += sides[k].larger;
        }
        parallel_for(chunks, [&](int64_t chunk) {
            const auto& own = sides[static_cast<size_t>(chunk)];
            const auto& to = targets[static_cast<size_t>(chunk)];
            const int64_t from = begin_of(chunk), until = begin_of(chunk + 1);
            const std::array<int64_t, 4> cuts = {from, from + own.smaller, until - own.larger, until};
            for (size_t part = 0; part < 3; ++part)
                std::copy(scratch_ + cuts[part], scratch_ + cuts[part + 1], keys_ + to[part]);
        });
        return all;
    }

    // Into the scratch memory of the chunk; nothing is guessed. The middle is gathered at the chunk's own
    // begin, where all has been read.
    Sides divide_chunk(int64_t begin, int64_t end, Key least, Key most) {
        Key *smaller = scratch_ + begin, *larger = scratch_ + end - 1, *middle = keys_ + begin;
        for (int64_t i = begin; i < end; ++i) {
            const Key key = keys_[i];
            const bool is_smaller = key < least, is_larger = most < key;
            *smaller = key;
            *larger = key;
            *middle = key;
            smaller += is_smaller;
            larger -= is_larger;
            middle += !(is_smaller | is_larger);
        }
        std::copy(keys_ + begin, middle, smaller);
        return {smaller - (scratch_ + begin), scratch_ + end - 1 - larger};
    }

    Key* keys_;
    Key* scratch_;
    uint64_t state_ = 1;
    int rounds_ = 0;
};

// Calls load(keys, begin, end) and store(keys, begin, end) for pieces of each row, and selects between them.
template <class Key, class Load, class Store>
void select_rows(int64_t rows, int64_t length, std::span<const int64_t> places, const Load& load,
                 const Store& store) {
    const int64_t pieces = (length + kChunk - 1) / kChunk;
    const auto in_pieces = [&](const auto& work) {
        parallel_for(pieces,
                     [&](int64_t piece) { work(piece * kChunk, std::min(length, (piece + 1) * kChunk)); });
    };
    const auto size = static_cast<size_t>(length);
    const auto select = [&](int64_t row) {
        const BufferPtr memory = cpu_device().allocate(2 * size * sizeof(Key));
        auto* const keys = reinterpret_cast<Key*>(memory->data());
        in_pieces([&](int64_t begin, int64_t end) { load(row, keys, begin, end); });
        Selection<Key>({keys, size}, keys + length).narrow(0, length, places);
        in_pieces([&](int64_t begin, int64_t end) { store(row, keys, begin, end); });
    };
    if (rows == 1) {
        select(0);
    } else {
        parallel_for(rows, select);
    }
}

template <class Visit>
void visit_type_of(ScalarType type, const Visit& visit) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (sizeof(T) > 1 && !std::is_same_v<T, Complex<float>> &&
                      !std::is_same_v<T, Complex<double>>)
            visit(tag);
    });
}

bool is_sorted_anyway(ScalarType type, int64_t length) {
    const DType dtype(type);
    return dtype.itemsize() == 1 || dtype.is_complex() || length <= kSorted;
}

}  // namespace

void partition_rows(ScalarType type, int64_t rows, int64_t length, std::span<const int64_t> places,
                    const std::function<SortedRow(int64_t row)>& row_at) {
    if (is_sorted_anyway(type, length)) return sort_rows(type, rows, length, row_at);
    visit_type_of(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        using Keys = SortKeys<T>;
        using Key = typename Keys::Bits;
        select_rows<Key>(
            rows, length, places,
            [&](int64_t number, Key* keys, int64_t begin, int64_t end) {
                const SortedRow row = row_at(number);
                for (int64_t i = begin; i < end; ++i)
                    keys[i] = Keys::of(row.from + i * row.from_stride, false);
            },
            [&](int64_t number, const Key* keys, int64_t begin, int64_t end) {
                const SortedRow row = row_at(number);
                with_stride<T>(row.to_stride, [&](auto stride) {
                    for (int64_t i = begin; i < end; ++i) Keys::back(keys[i], row.to + i * stride);
                });
            });
    });
}

void argpartition_rows(ScalarType type, int64_t rows, int64_t length, std::span<const int64_t> places,
                       const std::function<SortedRow(int64_t row)>& row_at) {
    if (is_sorted_anyway(type, length)) return argsort_rows(type, rows, length, row_at);
    visit_type_of(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        using Keys = SortKeys<T>;
        const auto key_of = [&](const SortedRow& row, int64_t i) {
            return uint64_t{Keys::of(row.from + i * row.from_stride, true)};
        };
        const auto put = [](const SortedRow& row, int64_t i, uint64_t position) {
            std::memcpy(row.to + i * row.to_stride, &position, sizeof position);
        };
        if (sizeof(T) <= 4 && length <= int64_t{0xffffffff}) {
            select_rows<uint64_t>(
                rows, length, places,
                [&](int64_t number, uint64_t* keys, int64_t begin, int64_t end) {
                    const SortedRow row = row_at(number);
                    for (int64_t i = begin; i < end; ++i)
                        keys[i] = key_of(row, i) << 32 | static_cast<uint64_t>(i);
                },
                [&](int64_t number, const uint64_t* keys, int64_t begin, int64_t end) {
                    const SortedRow row = row_at(number);
                    for (int64_t i = begin; i < end; ++i) put(row, i, keys[i] & 0xffffffff);
                });
            return;
        }
        select_rows<WideKey>(
            rows, length, places,
            [&](int64_t number, WideKey* keys, int64_t begin, int64_t end) {
                const SortedRow row = row_at(number);
                for (int64_t i = begin; i < end; ++i) keys[i] = {static_cast<uint64_t>(i), key_of(row, i)};
            },
            [&](int64_t number, const WideKey* keys, int64_t begin, int64_t end) {
                const SortedRow row = row_at(number);
                for (int64_t i = begin; i < end; ++i) put(row, i, keys[i].low);
            });
    });
}

}  // namespace weft
