// Elements repeated in the host's memory, on all threads.
#pragma once

#include <cstdint>
#include <span>

namespace weft {

// In each of `rows` rows there are pieces of `bytes` bytes, one for each count; each is written as many times
// as its count says, one after another. Counts are not negative, and their sum is `total`.
void repeat_pieces(const char* from, int64_t rows, int64_t bytes, std::span<const int64_t> counts,
                   int64_t total, char* to);

}  // namespace weft
