#include "library/ordering/bin_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/threads/thread_pool.h"
#include "library/ordering/search_loops.h"
#include "library/ordering/sort_keys.h"
#include "ops/op.h"

namespace weft {

namespace {

constexpr int64_t kChunk = 2048;              // elements whose bins are found together
constexpr int64_t kBlock = int64_t{1} << 16;  // elements whose weights are added up by themselves
constexpr int64_t kMostParts = 16;
constexpr int64_t kFewBins = 1024;
constexpr int64_t kTables = 4;  // of few bins: so that neighbours that are equal do not wait for each other

using Places = std::array<int32_t, kChunk>;

// Elements in another type: where they lie, if that is theirs, else in the room.
class Converted {
public:
    Converted(ScalarType from, ScalarType to) : from_(from), to_(to) {}

    const char* chunk(const char* data, int64_t begin, int64_t count) {
        const int64_t size = DType(from_).itemsize();
        const char* const at = data + begin * size;
        if (from_ == to_) return at;
        char* const memory[2] = {const_cast<char*>(at), room_.data()};
        const int64_t strides[2] = {size, DType(to_).itemsize()};
        cast_loop(from_, to_).loop(memory, strides, count);
        return room_.data();
    }

private:
    ScalarType from_, to_;
    alignas(64) std::array<char, kChunk * 16> room_;
};

// Finds the bins of a chunk; what is in none is in a bin behind the last one.
template <class Edge>
class EvenBins {
public:
    EvenBins(const BinnedElements& elements, const BinEdges& edges, ScalarType)
        : elements_(elements),
          converted_(elements.type, edges.type),
          edges_(reinterpret_cast<const Edge*>(edges.data)),
          bins_(static_cast<int32_t>(edges.bins)),
          low_(static_cast<Edge>(edges.low)),
          high_(static_cast<Edge>(edges.high)),
          width_(static_cast<Edge>(edges.width)) {}

    void find(int64_t begin, int64_t count, Places& places) {
        const auto* const x = reinterpret_cast<const Edge*>(converted_.chunk(elements_.data, begin, count));
        const auto bins = static_cast<Edge>(bins_);
        for (int64_t i = 0; i < count; ++i) {
            const bool inside = x[i] >= low_ && x[i] <= high_;
            const Edge place = (x[i] - low_) / width_ * bins;
            places[static_cast<size_t>(i)] = static_cast<int32_t>(inside ? place : static_cast<Edge>(-1));
        }
        const int32_t last = bins_ - 1;
        for (int64_t i = 0; i < count; ++i) {
            int32_t place = places[static_cast<size_t>(i)];
            if (place < 0) {
                places[static_cast<size_t>(i)] = bins_;
                continue;
            }
            place = std::min(place, last);
            place -= x[i] < edges_[place] ? 1 : 0;
            place += place != last && x[i] >= edges_[place + 1] ? 1 : 0;
            places[static_cast<size_t>(i)] = place;
        }
    }

private:
    const BinnedElements& elements_;
    Converted converted_;
    const Edge* edges_;
    int32_t bins_;
    Edge low_, high_, width_;
};

class UnevenBins {
public:
    UnevenBins(const BinnedElements& elements, const BinEdges& edges, ScalarType common)
        : elements_(elements),
          edges_(edges),
          type_(common),
          size_(DType(common).itemsize()),
          equals_(equality(common)),
          converted_(elements.type, common) {
        sorted_.resize(static_cast<size_t>((edges.bins + 1) * size_));
        char* const memory[2] = {const_cast<char*>(edges.data), sorted_.data()};
        const int64_t strides[2] = {DType(edges.type).itemsize(), size_};
        cast_loop(edges.type, common).loop(memory, strides, edges.bins + 1);
    }

    void find(int64_t begin, int64_t count, Places& places) {
        const char* const x = converted_.chunk(elements_.data, begin, count);
        search_sorted(type_, sorted_.data(), size_, edges_.bins + 1, x, count, true, found_.data());
        const auto bins = static_cast<int32_t>(edges_.bins);
        const char* const last_edge = sorted_.data() + edges_.bins * size_;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t before = found_[static_cast<size_t>(i)];  // how many edges are not above it
            int32_t place = before == 0 ? bins : static_cast<int32_t>(before - 1);
            // The last edge, or what is beyond it.
            if (before > bins && equals_(x + i * size_, last_edge)) place = bins - 1;
            places[static_cast<size_t>(i)] = place;
        }
    }

private:
    using Equality = bool (*)(const char* first, const char* second);
    static Equality equality(ScalarType type) {
        return visit_scalar_type(type, [](auto tag) -> Equality {
            using T = typename decltype(tag)::Type;
            return [](const char* first, const char* second) {
                if constexpr (requires(T x) { x.re; }) {
                    const T x = load_element<T>(first), y = load_element<T>(second);
                    return x.re == y.re && x.im == y.im;
                } else {
                    return SortKeys<T>::of(first, true) == SortKeys<T>::of(second, true);
                }
            };
        });
    }

    const BinnedElements& elements_;
    const BinEdges& edges_;
    ScalarType type_;
    int64_t size_;
    Equality equals_;
    Converted converted_;
    std::vector<char> sorted_;
    std::array<int64_t, kChunk> found_;
};

// With work(begin, count, places) for each chunk of [begin, end).
template <class Finder, class Work>
void for_chunks(const BinnedElements& elements, const BinEdges& edges, ScalarType common, int64_t begin,
                int64_t end, const Work& work) {
    Finder finder(elements, edges, common);
    Places places;
    for (int64_t at = begin; at < end; at += kChunk) {
        const int64_t count = std::min(kChunk, end - at);
        finder.find(at, count, places);
        work(at, count, places);
    }
}

template <class Work>
void with_finder(const BinEdges& edges, const Work& work) {
    if (!edges.even) return work.template operator()<UnevenBins>();
    if (edges.type == ScalarType::kFloat32) return work.template operator()<EvenBins<float>>();
    work.template operator()<EvenBins<double>>();
}

}  // namespace

void count_in_bins(const BinnedElements& elements, const BinEdges& edges, ScalarType common,
                   std::span<int64_t> counts) {
    const int64_t bins = edges.bins, slots = bins + 1;
    const int64_t useful = std::max<int64_t>(1, elements.count / (4 * slots));
    const int64_t parts = std::clamp<int64_t>(elements.count / kBlock, 1, std::min(kMostParts, useful));
    const int64_t tables = bins <= kFewBins ? kTables : 1;
    std::vector<std::vector<int64_t>> own(static_cast<size_t>(parts));
    with_finder(edges, [&]<class Finder>() {
        parallel_for(parts, [&](int64_t part) {
            std::vector<int64_t>& table = own[static_cast<size_t>(part)];
            table.resize(static_cast<size_t>(tables * slots));
            int64_t pauses = 0;
            for_chunks<Finder>(
                elements, edges, common, elements.count * part / parts, elements.count * (part + 1) / parts,
                [&](int64_t, int64_t count, const Places& places) {
                    if ((++pauses & 0xff) == 0) pause_task();
                    if (tables == 1) {
                        for (int64_t i = 0; i < count; ++i)
                            ++table[static_cast<size_t>(places[static_cast<size_t>(i)])];
                        return;
                    }
                    for (int64_t i = 0; i < count; ++i)
                        ++table[static_cast<size_t>(i % kTables * slots + places[static_cast<size_t>(i)])];
                });
        });
    });
    for (const std::vector<int64_t>& table : own) {
        for (int64_t k = 0; k < tables * slots; ++k) {
            if (k % slots != bins) counts[static_cast<size_t>(k % slots)] += table[static_cast<size_t>(k)];
        }
    }
}

void add_in_bins(const BinnedElements& elements, const BinEdges& edges, ScalarType common,
                 std::span<double> sums) {
    const int64_t slots = edges.bins + 1, blocks = (elements.count + kBlock - 1) / kBlock;
    const int64_t together = slots <= kBlock ? std::min(kMostParts, blocks) : std::min<int64_t>(1, blocks);
    std::vector<double> own(static_cast<size_t>(together * slots));
    with_finder(edges, [&]<class Finder>() {
        for (int64_t first = 0; first < blocks; first += together) {
            const int64_t several = std::min(together, blocks - first);
            parallel_for(several, [&](int64_t k) {
                double* const table = own.data() + k * slots;
                std::fill_n(table, slots, 0.0);
                const int64_t begin = (first + k) * kBlock, end = std::min(elements.count, begin + kBlock);
                for_chunks<Finder>(elements, edges, common, begin, end,
                                   [&](int64_t at, int64_t count, const Places& places) {
                                       for (int64_t i = 0; i < count; ++i)
                                           table[places[static_cast<size_t>(i)]] += elements.weights[at + i];
                                   });
            });
            for (int64_t k = 0; k < several; ++k) {
                const double* const table = own.data() + k * slots;
                for (int64_t bin = 0; bin < edges.bins; ++bin) sums[static_cast<size_t>(bin)] += table[bin];
            }
        }
    });
}

}  // namespace weft
