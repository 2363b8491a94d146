#include "library/bits/bit_loops.h"

#include <tmmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/threads/thread_pool.h"

namespace weft {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int64_t kTask = int64_t{1} << 16;  // bytes that one task writes

// Eight bytes are one word, the first of them its lowest. A word of zeros and ones, times one of these, has
// the packed byte on top: byte k and the factor's bit 63 - 9k (big), or 56 - 7k (little), meet in the bit
// that is k's, and no two products meet elsewhere.
constexpr uint64_t kGatherBig = 0x8040201008040201, kGatherLittle = 0x0102040810204080;
constexpr uint64_t kOnes = 0x0101010101010101, kBelowTop = 0x7F7F7F7F7F7F7F7F;

// 1 for each byte that is not 0: adding 127 carries into its top bit, and into no other byte.
uint64_t ones_where_not_zero(uint64_t word) {
    return ((((word & kBelowTop) + kBelowTop) | word) >> 7) & kOnes;
}

uint64_t load_word(const uint8_t* bytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// Sixteen elements: a register's bytes that are not 0, as a mask of bits, of which the first is the lowest.
void pack_sixteen(const uint8_t* truths, bool little, uint8_t* packed) {
    const __m128i turned = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(truths));
    if (!little) bytes = _mm_shuffle_epi8(bytes, turned);
    const int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
    const auto bits = static_cast<uint16_t>(~zeros);
    std::memcpy(packed, &bits, sizeof bits);
}

// Of a row of truths, which are any bytes: `count` elements into ceil(count / 8) bytes.
void pack_truths(const uint8_t* truths, int64_t count, uint64_t gather, uint8_t* packed) {
    const int64_t whole = count / 8;
    int64_t k = 0;
    for (; k + 2 <= whole; k += 2) pack_sixteen(truths + 8 * k, gather == kGatherLittle, packed + k);
    for (; k < whole; ++k) {
        packed[k] = static_cast<uint8_t>((ones_where_not_zero(load_word(truths + 8 * k)) * gather) >> 56);
    }
    if (const int64_t rest = count % 8; rest != 0) {
        std::array<uint8_t, 8> last{};
        std::memcpy(last.data(), truths + 8 * whole, static_cast<size_t>(rest));
        packed[whole] = static_cast<uint8_t>((ones_where_not_zero(load_word(last.data())) * gather) >> 56);
    }
}

template <class T>
void pack_row(const T* elements, int64_t count, uint64_t gather, uint8_t* packed) {
    if constexpr (sizeof(T) == 1) {
        pack_truths(elements, count, gather, packed);
    } else {
        constexpr int64_t kBlock = 512;
        std::array<uint8_t, kBlock> truths;
        for (int64_t begin = 0; begin < count; begin += kBlock) {
            const int64_t block = std::min(kBlock, count - begin);
            for (int64_t k = 0; k < block; ++k)
                truths[static_cast<size_t>(k)] = static_cast<uint8_t>(elements[begin + k] != 0);
            pack_truths(truths.data(), block, gather, packed + begin / 8);
        }
    }
}

// Eight rows side by side, or the last few, into one of bytes.
template <class T>
void pack_rows(const T* elements, int64_t rows, int64_t inner, bool little, uint8_t* packed) {
    std::memset(packed, 0, static_cast<size_t>(inner));
    for (int64_t k = 0; k < rows; ++k) {
        const int64_t place = little ? k : 7 - k;
        const T* const row = elements + k * inner;
        for (int64_t i = 0; i < inner; ++i)
            packed[i] = static_cast<uint8_t>(packed[i] | (static_cast<int>(row[i] != 0) << place));
    }
}

// task(begin, end) for parts of [0, count), each of which writes `bytes` bytes.
template <class Task>
void in_tasks(int64_t count, int64_t bytes, const Task& task) {
    const int64_t each = std::max<int64_t>(1, kTask / std::max<int64_t>(1, bytes));
    if (count <= each) {
        task(int64_t{0}, count);
        return;
    }
    parallel_for((count + each - 1) / each,
                 [&](int64_t k) { task(k * each, std::min(count, (k + 1) * each)); });
}

template <class T>
void pack(const T* elements, const BitRows& rows, bool little, uint8_t* packed) {
    const int64_t width = (rows.length + 7) / 8;
    if (rows.inner != 1) {
        in_tasks(rows.outer * width, rows.inner, [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                const int64_t first = k % width * 8;
                pack_rows(elements + (k / width * rows.length + first) * rows.inner,
                          std::min<int64_t>(8, rows.length - first), rows.inner, little,
                          packed + k * rows.inner);
            }
        });
        return;
    }
    const uint64_t gather = little ? kGatherLittle : kGatherBig;
    in_tasks(rows.outer * width, 1, [&](int64_t begin, int64_t end) {
        while (begin < end) {  // row by row
            const int64_t row = begin / width, first = begin % width * 8;
            const int64_t count = std::min(width - begin % width, end - begin);
            pack_row(elements + row * rows.length + first, std::min(count * 8, rows.length - first), gather,
                     packed + begin);
            begin += count;
        }
    });
}

constexpr std::array<uint64_t, 256> spread_bits(bool little) {
    std::array<uint64_t, 256> words{};
    for (size_t byte = 0; byte < 256; ++byte) {
        for (size_t k = 0; k < 8; ++k)
            words[byte] |= static_cast<uint64_t>((byte >> (little ? k : 7 - k)) & 1) << (8 * k);
    }
    return words;
}

constexpr std::array<uint64_t, 256> kSpreadBig = spread_bits(false), kSpreadLittle = spread_bits(true);

void unpack_row(const uint8_t* packed, int64_t count, const std::array<uint64_t, 256>& spread,
                uint8_t* bits) {
    const int64_t whole = count / 8;
    for (int64_t k = 0; k < whole; ++k) std::memcpy(bits + 8 * k, &spread[packed[k]], 8);
    if (const int64_t rest = count % 8; rest != 0)
        std::memcpy(bits + 8 * whole, &spread[packed[whole]], static_cast<size_t>(rest));
}

}  // namespace

void pack_bits(const char* elements, int64_t itemsize, const BitRows& rows, bool little, uint8_t* packed) {
    switch (itemsize) {
        case 1: return pack(reinterpret_cast<const uint8_t*>(elements), rows, little, packed);
        case 2: return pack(reinterpret_cast<const uint16_t*>(elements), rows, little, packed);
        case 4: return pack(reinterpret_cast<const uint32_t*>(elements), rows, little, packed);
        default: return pack(reinterpret_cast<const uint64_t*>(elements), rows, little, packed);
    }
}

void unpack_bits(const uint8_t* packed, const BitRows& rows, int64_t count, bool little, uint8_t* bits) {
    const int64_t there = std::min(count, rows.length * 8);
    if (rows.inner != 1) {
        in_tasks(rows.outer * count, rows.inner, [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                const int64_t bit = k % count;
                uint8_t* const to = bits + k * rows.inner;
                if (bit >= there) {
                    std::memset(to, 0, static_cast<size_t>(rows.inner));
                    continue;
                }
                const int64_t place = little ? bit % 8 : 7 - bit % 8;
                const uint8_t* const from = packed + (k / count * rows.length + bit / 8) * rows.inner;
                for (int64_t i = 0; i < rows.inner; ++i) to[i] = static_cast<uint8_t>((from[i] >> place) & 1);
            }
        });
        return;
    }
    const std::array<uint64_t, 256>& spread = little ? kSpreadLittle : kSpreadBig;
    constexpr int64_t kPiece = int64_t{1} << 13;  // bits, of one row
    const int64_t pieces = (count + kPiece - 1) / kPiece;
    in_tasks(rows.outer * pieces, std::min(count, kPiece), [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            const int64_t row = k / pieces, first = k % pieces * kPiece;
            const int64_t last = std::min(count, first + kPiece), known = std::min(last, there);
            uint8_t* const to = bits + row * count;
            if (known > first)
                unpack_row(packed + row * rows.length + first / 8, known - first, spread, to + first);
            const int64_t zeros = std::max(first, known);
            std::memset(to + zeros, 0, static_cast<size_t>(last - zeros));
        }
    });
}

}  // namespace weft
