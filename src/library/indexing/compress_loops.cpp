#include "library/indexing/compress_loops.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "library/indexing/cpu/pack.h"

namespace weft {

namespace {

constexpr int64_t kChunk = int64_t{1} << 15;

int64_t chunks_of(int64_t count) { return (count + kChunk - 1) / kChunk; }

// Bytes other than 1 are true as well (views of other types). Sums of bytes, so that vectors stay narrow.
int64_t count_true(const char* mask, int64_t count) {
    constexpr int64_t kMostOfAByte = 240;  // of what a byte counts to, full vectors
    int64_t total = 0;
    for (int64_t begin = 0; begin < count; begin += kMostOfAByte) {
        const int64_t end = std::min(count, begin + kMostOfAByte);
        uint8_t some = 0;
        for (int64_t i = begin; i < end; ++i) some = static_cast<uint8_t>(some + (mask[i] != 0));
        total += some;
    }
    return total;
}

}  // namespace

std::vector<int64_t> count_selected(const char* mask, int64_t count) {
    const int64_t chunks = chunks_of(count);
    std::vector<int64_t> before(static_cast<size_t>(chunks) + 1);
    parallel_for(chunks, [&](int64_t chunk) {
        const int64_t begin = chunk * kChunk;
        before[static_cast<size_t>(chunk) + 1] = count_true(mask + begin, std::min(count - begin, kChunk));
    });
    for (size_t chunk = 1; chunk < before.size(); ++chunk) before[chunk] += before[chunk - 1];
    return before;
}

void write_positions(const char* mask, const Dims& shape, std::span<const int64_t> before,
                     std::span<int64_t* const> positions) {
    const int64_t count = element_count(shape), inner = shape.back();
    const size_t outer = shape.size() - 1;
    parallel_for(chunks_of(count), [&](int64_t chunk) {
        const int64_t end = std::min(count, (chunk + 1) * kChunk);
        int64_t place = chunk * kChunk, at = before[static_cast<size_t>(chunk)];
        const int64_t last = before[static_cast<size_t>(chunk) + 1];
        while (place < end && at < last) {  // one row, or what of it is in the chunk
            const int64_t row = place / inner, start = row * inner, row_end = std::min(end, start + inner);
            int64_t* const columns = positions[outer] + at;
            const int64_t found =
                pack_places(mask + place, row_end - place, place - start, columns, last - at);
            int64_t rest = row;
            for (size_t d = outer; d-- > 0; rest /= shape[d])
                std::fill_n(positions[d] + at, found, rest % shape[d]);
            at += found;
            place = row_end;
        }
    });
}

void write_selected(const char* mask, int64_t count, std::span<const int64_t> before, const char* from,
                    int64_t itemsize, char* to) {
    parallel_for(chunks_of(count), [&](int64_t chunk) {
        const int64_t begin = chunk * kChunk, end = std::min(count, begin + kChunk);
        const auto at = static_cast<size_t>(chunk);
        pack_selected(mask + begin, end - begin, from + begin * itemsize, itemsize,
                      to + before[at] * itemsize, before[at + 1] - before[at]);
    });
}

namespace {

template <class Move>
void with_itemsize(int64_t itemsize, const Move& move) {
    switch (itemsize) {
        case 1: move(std::integral_constant<size_t, 1>()); break;
        case 2: move(std::integral_constant<size_t, 2>()); break;
        case 4: move(std::integral_constant<size_t, 4>()); break;
        case 8: move(std::integral_constant<size_t, 8>()); break;
        default: move(std::integral_constant<size_t, 16>()); break;
    }
}

}  // namespace

int64_t find_places(const char* mask, int64_t count, int64_t* places) {
    return pack_places(mask, count, 0, places, count);
}

void gather_places(const char* from, const int64_t* places, int64_t count, int64_t stride, int64_t itemsize,
                   char* to) {
    with_itemsize(itemsize, [&](auto size) {
        for (int64_t k = 0; k < count; ++k) std::memcpy(to + k * itemsize, from + places[k] * stride, size);
    });
}

void scatter_places(char* to, const int64_t* places, int64_t count, int64_t stride, int64_t itemsize,
                    const char* values, int64_t value_stride) {
    with_itemsize(itemsize, [&](auto size) {
        for (int64_t k = 0; k < count; ++k)
            std::memcpy(to + places[k] * stride, values + k * value_stride, size);
    });
}

}  // namespace weft
