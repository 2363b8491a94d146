// Elements that a mask chooses, side by side: one thread's part, by vector instructions where the processor
// has them.
#pragma once

#include <cstdint>

namespace weft {

// The elements of `itemsize` bytes (1, 2, 4, 8 or 16) where the mask's byte is not zero. `total`: how many
// those are; nothing is written behind them.
void pack_selected(const char* mask, int64_t count, const char* from, int64_t itemsize, char* to,
                   int64_t total);

// Their places, of which the first is `first`. Returns how many there are, up to `limit`.
int64_t pack_places(const char* mask, int64_t count, int64_t first, int64_t* to, int64_t limit);

#if defined(__x86_64__)
// What these are on x86-64-v4, with VBMI2 for elements of 1 and 2 bytes.
void pack_selected_avx512(const char* mask, int64_t count, const char* from, int64_t itemsize, char* to,
                          int64_t total);
int64_t pack_places_avx512(const char* mask, int64_t count, int64_t first, int64_t* to, int64_t limit);
#endif

}  // namespace weft
