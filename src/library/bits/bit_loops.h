// Packed bits in the host's memory, on all threads: eight truths in a byte, and back.
#pragma once

#include <cstdint>

namespace weft {

// Elements in C order: `length` of them along the axis, `inner` apart.
struct BitRows {
    int64_t outer = 1, length = 0, inner = 1;
};

// The first of eight bits is the one that counts most, or with `little` the one that counts least. Elements
// of `itemsize` bytes (1, 2, 4 or 8) are true where any bit is set. The bytes are ceil(length / 8) along the
// axis.
void pack_bits(const char* elements, int64_t itemsize, const BitRows& rows, bool little, uint8_t* packed);

// `count` bits along the axis, which is `length` bytes long: zeros behind those that there are.
void unpack_bits(const uint8_t* packed, const BitRows& rows, int64_t count, bool little, uint8_t* bits);

}  // namespace weft
