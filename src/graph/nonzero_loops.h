// What a mask in the host's memory chooses: counted and written chunk by chunk on all threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/dims.h"

namespace weft {

// How many bytes of each chunk are not zero, summed up before each chunk, and the total behind them.
std::vector<int64_t> count_chosen(const char* mask, int64_t count);

// The positions of bytes that are not zero along each dimension of `shape`, in C order. `before` is what
// count_chosen gave.
void write_positions(const char* mask, const Dims& shape, std::span<const int64_t> before,
                     std::span<int64_t* const> positions);

// The elements of `itemsize` bytes at these places, one after another.
void write_chosen(const char* mask, int64_t count, std::span<const int64_t> before, const char* from,
                  int64_t itemsize, char* to);

}  // namespace weft
