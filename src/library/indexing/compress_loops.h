// What a mask in the host's memory selects: counted and written chunk by chunk on all threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/dims.h"

namespace weft {

// How many bytes of each chunk are not zero, summed up before each chunk, and the total behind them.
std::vector<int64_t> count_selected(const char* mask, int64_t count);

// The positions of bytes that are not zero along each dimension of `shape`, in C order. `before` is what
// count_selected gave.
void write_positions(const char* mask, const Dims& shape, std::span<const int64_t> before,
                     std::span<int64_t* const> positions);

// The elements of `itemsize` bytes at these places, one after another.
void write_selected(const char* mask, int64_t count, std::span<const int64_t> before, const char* from,
                    int64_t itemsize, char* to);

// For few: the places of bytes that are not zero, and how many; there is memory for `count` places. Elements
// from those places, one after another, and back.
int64_t find_places(const char* mask, int64_t count, int64_t* places);
void gather_places(const char* from, const int64_t* places, int64_t count, int64_t stride, int64_t itemsize,
                   char* to);
void scatter_places(char* to, const int64_t* places, int64_t count, int64_t stride, int64_t itemsize,
                    const char* values, int64_t value_stride);

}  // namespace weft
