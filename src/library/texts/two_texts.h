// Two texts of one kind of characters, which may differ in width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "library/texts/stretches.h"

namespace weft::texts {

// How many bytes are equal before the first block of eight that differs.
inline int64_t equal_blocks(const char* a, const char* b, int64_t size) {
    int64_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t in_a, in_b;
        std::memcpy(&in_a, a + i, sizeof in_a);
        std::memcpy(&in_b, b + i, sizeof in_b);
        if (in_a != in_b) break;
    }
    return i;
}

inline bool equal_bytes(const char* a, const char* b, int64_t size) {
    int64_t i = equal_blocks(a, b, size);
    if (i + 8 <= size) return false;
    for (; i < size; ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

template <class Char>
bool is_empty(const char* text, int64_t begin, int64_t width) {
    for (; begin < width; ++begin) {
        if (character_at<Char>(text, begin) != 0) return false;
    }
    return true;
}

template <class Char>
bool equal_texts(const char* a, int64_t width_a, const char* b, int64_t width_b) {
    const int64_t both = std::min(width_a, width_b);
    return equal_bytes(a, b, both * int64_t{sizeof(Char)}) && is_empty<Char>(a, both, width_a) &&
           is_empty<Char>(b, both, width_b);
}

template <class Char>
bool less_text(const char* a, int64_t width_a, const char* b, int64_t width_b) {
    const int64_t both = std::min(width_a, width_b);
    int64_t i = equal_blocks(a, b, both * int64_t{sizeof(Char)}) / int64_t{sizeof(Char)};
    for (; i < both; ++i) {
        const Char in_a = character_at<Char>(a, i), in_b = character_at<Char>(b, i);
        if (in_a != in_b) return in_a < in_b;
    }
    return !is_empty<Char>(b, both, width_b);
}

}  // namespace weft::texts
