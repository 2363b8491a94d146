// Sorting of keys in vector registers, by one thread: Highway's quicksort (Wassenberg, Blacher, Giesen and
// Sanders, "Vectorized and performance-portable quicksort", 2022), compiled for several instruction sets, of
// which the best that the machine has is chosen at run time. The order is that of the unsigned numbers, so
// the result does not depend on the choice.
#pragma once

#include <cstdint>
#include <span>

namespace weft {

// Ordered by `high`, then by `low`.
struct alignas(16) WideKey {
    uint64_t low = 0, high = 0;

    friend bool operator<(const WideKey& a, const WideKey& b) {
        return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
    friend bool operator==(const WideKey&, const WideKey&) = default;
};

void vector_sort(std::span<uint16_t> keys);
void vector_sort(std::span<uint32_t> keys);
void vector_sort(std::span<uint64_t> keys);
void vector_sort(std::span<WideKey> keys);

}  // namespace weft
