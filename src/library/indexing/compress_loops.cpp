#include "library/indexing/compress_loops.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/shape.h"
#include "core/threads/thread_pool.h"

namespace weft {

namespace {

constexpr int64_t kChunk = int64_t{1} << 15;
constexpr int64_t kWord = sizeof(uint64_t);

int64_t chunks_of(int64_t count) { return (count + kChunk - 1) / kChunk; }

// Bytes other than 1 are true as well (views of other types). Sums of bytes, so that vectors stay narrow.
int64_t count_true(const char* mask, int64_t count) {
    constexpr int64_t kMostOfAByte = 255;
    int64_t total = 0;
    for (int64_t begin = 0; begin < count; begin += kMostOfAByte) {
        const int64_t end = std::min(count, begin + kMostOfAByte);
        uint8_t some = 0;
        for (int64_t i = begin; i < end; ++i) some = static_cast<uint8_t>(some + (mask[i] != 0));
        total += some;
    }
    return total;
}

// Calls take(place, number) for the true ones among [begin, end), numbered from 0; `limit` is how many there
// are. Without a branch for each place: take() is called for false ones too, and what it did is overwritten
// by the next.
template <class Take>
int64_t for_each_true(const char* mask, int64_t begin, int64_t end, int64_t limit, const Take& take) {
    int64_t found = 0;
    int64_t i = begin;
    while (i < end && found < limit) {
        if (i + kWord <= end) {
            uint64_t word = 0;
            std::memcpy(&word, mask + i, sizeof word);
            if (word == 0) {
                i += kWord;
                continue;
            }
            if (found + kWord <= limit) {
                for (int64_t k = 0; k < kWord; ++k) {
                    take(i + k, found);
                    found += mask[i + k] != 0;
                }
                i += kWord;
                continue;
            }
        }
        take(i, found);
        found += mask[i] != 0;
        ++i;
    }
    return found;
}

template <int64_t kItemsize>
void compress(const char* mask, int64_t count, std::span<const int64_t> before, const char* from, char* to) {
    parallel_for(chunks_of(count), [&](int64_t chunk) {
        const int64_t begin = chunk * kChunk, end = std::min(count, begin + kChunk);
        const auto at = static_cast<size_t>(chunk);
        char* const out = to + before[at] * kItemsize;
        for_each_true(mask, begin, end, before[at + 1] - before[at], [&](int64_t place, int64_t number) {
            std::memcpy(out + number * kItemsize, from + place * kItemsize, kItemsize);
        });
    });
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
                for_each_true(mask, place, row_end, last - at,
                              [&](int64_t i, int64_t number) { columns[number] = i - start; });
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
    switch (itemsize) {
        case 1: compress<1>(mask, count, before, from, to); break;
        case 2: compress<2>(mask, count, before, from, to); break;
        case 4: compress<4>(mask, count, before, from, to); break;
        case 8: compress<8>(mask, count, before, from, to); break;
        default: compress<16>(mask, count, before, from, to); break;
    }
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
    return for_each_true(mask, 0, count, count,
                         [&](int64_t place, int64_t number) { places[number] = place; });
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
