#include "library/indexing/cpu/pack.h"

#include <cstring>

#include "core/processor.h"

namespace weft {

namespace {

constexpr int64_t kWord = sizeof(uint64_t);

// Calls take(place, number) for the true ones among `count`, numbered from 0; `limit` is how many there are.
// Without a branch for each place: take() is called for false ones too, and what it did is overwritten by the
// next.
template <class Take>
int64_t for_each_true(const char* mask, int64_t count, int64_t limit, const Take& take) {
    int64_t found = 0;
    int64_t i = 0;
    while (i < count && found < limit) {
        if (i + kWord <= count) {
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
void pack(const char* mask, int64_t count, const char* from, char* to, int64_t total) {
    for_each_true(mask, count, total, [&](int64_t place, int64_t number) {
        std::memcpy(to + number * kItemsize, from + place * kItemsize, kItemsize);
    });
}

}  // namespace

void pack_selected(const char* mask, int64_t count, const char* from, int64_t itemsize, char* to,
                   int64_t total) {
#if defined(__x86_64__)
    if (itemsize <= 2 ? has_wide_products() : processor_level() == ProcessorLevel::kX86V4) {
        pack_selected_avx512(mask, count, from, itemsize, to, total);
        return;
    }
#endif
    switch (itemsize) {
        case 1: pack<1>(mask, count, from, to, total); break;
        case 2: pack<2>(mask, count, from, to, total); break;
        case 4: pack<4>(mask, count, from, to, total); break;
        case 8: pack<8>(mask, count, from, to, total); break;
        default: pack<16>(mask, count, from, to, total); break;
    }
}

int64_t pack_places(const char* mask, int64_t count, int64_t first, int64_t* to, int64_t limit) {
#if defined(__x86_64__)
    if (processor_level() == ProcessorLevel::kX86V4) return pack_places_avx512(mask, count, first, to, limit);
#endif
    return for_each_true(mask, count, limit,
                         [&](int64_t place, int64_t number) { to[number] = first + place; });
}

}  // namespace weft
