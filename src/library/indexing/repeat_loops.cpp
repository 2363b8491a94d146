#include "library/indexing/repeat_loops.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/threads/thread_pool.h"

namespace weft {

namespace {

constexpr int64_t kCountsOfTask = int64_t{1} << 13;

struct Piece16 {
    uint64_t words[2];
};

// Of a row: the pieces of some counts, written from `to` on.
template <class T>
void repeat_elements(const char* from, std::span<const int64_t> counts, char* to) {
    const auto* element = reinterpret_cast<const T*>(from);
    auto* out = reinterpret_cast<T*>(to);
    for (const int64_t count : counts) {
        const T value = *element++;
        for (int64_t k = 0; k < count; ++k) *out++ = value;
    }
}

void repeat_bytes(const char* from, int64_t bytes, std::span<const int64_t> counts, char* to) {
    for (const int64_t count : counts) {
        for (int64_t k = 0; k < count; ++k, to += bytes) std::memcpy(to, from, static_cast<size_t>(bytes));
        from += bytes;
    }
}

void repeat_some(const char* from, int64_t bytes, std::span<const int64_t> counts, char* to) {
    switch (bytes) {
        case 1: return repeat_elements<uint8_t>(from, counts, to);
        case 2: return repeat_elements<uint16_t>(from, counts, to);
        case 4: return repeat_elements<uint32_t>(from, counts, to);
        case 8: return repeat_elements<uint64_t>(from, counts, to);
        case 16: return repeat_elements<Piece16>(from, counts, to);
        default: return repeat_bytes(from, bytes, counts, to);
    }
}

}  // namespace

void repeat_pieces(const char* from, int64_t rows, int64_t bytes, std::span<const int64_t> counts,
                   int64_t total, char* to) {
    const auto length = static_cast<int64_t>(counts.size());
    const int64_t parts = (length + kCountsOfTask - 1) / kCountsOfTask;
    if (parts == 1 && rows == 1) {
        repeat_some(from, bytes, counts, to);
        return;
    }
    std::vector<int64_t> starts(static_cast<size_t>(parts));  // where each part's pieces begin in a row
    int64_t start = 0;
    for (int64_t k = 0; k < length; ++k) {
        if (k % kCountsOfTask == 0) starts[static_cast<size_t>(k / kCountsOfTask)] = start;
        start += counts[static_cast<size_t>(k)];
    }
    // Few rows in each task where they are short.
    const int64_t together =
        std::max<int64_t>(1, kCountsOfTask / std::max<int64_t>(1, std::max(length, total)));
    parallel_for((rows + together - 1) / together * parts, [&](int64_t task) {
        const int64_t part = task % parts, first = task / parts * together;
        const int64_t begin = part * kCountsOfTask, count = std::min(length - begin, kCountsOfTask);
        for (int64_t row = first; row < std::min(rows, first + together); ++row) {
            repeat_some(from + (row * length + begin) * bytes, bytes,
                        counts.subspan(static_cast<size_t>(begin), static_cast<size_t>(count)),
                        to + (row * total + starts[static_cast<size_t>(part)]) * bytes);
        }
    });
}

}  // namespace weft
