// The entries of one program: WEFT_KEY_BITS, and WEFT_PAIRS for those that order positions, say which. Each
// program is small, since the driver assembles all of it at the first use of any entry.
#include "library/ordering/cuda/radix_sort.h"

#define WEFT_JOIN(a, b, c) a##b##c
#define WEFT_NAME(a, b, c) WEFT_JOIN(a, b, c)
#if WEFT_PAIRS
#define WEFT_ENTRY(name) WEFT_NAME(weft_argsort_, WEFT_KEY_BITS, _##name)
#else
#define WEFT_ENTRY(name) WEFT_NAME(weft_sort_, WEFT_KEY_BITS, _##name)
#endif

namespace {

using namespace weft::gpu;

using Key = WEFT_NAME(uint, WEFT_KEY_BITS, _t);
constexpr bool kPairs = WEFT_PAIRS;

}  // namespace

#ifdef WEFT_ROWS

WEFT_GPU_KERNEL(WEFT_ENTRY(short_rows_1), SortArguments, kShortRowThreads, 4) {
    sort_short_row<Key, kPairs, 1>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(short_rows_4), SortArguments, kShortRowThreads, 4) {
    sort_short_row<Key, kPairs, 4>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(rows_2), SortArguments, kRowThreads, 4) {
    sort_row<Key, kPairs, kRowThreads, kRowItems[0]>(words);
}
WEFT_GPU_KERNEL(WEFT_ENTRY(rows_16), SortArguments, kRowThreads, 2) {
    sort_row<Key, kPairs, kRowThreads, kRowItems[1]>(words);
}

#else

WEFT_GPU_KERNEL(WEFT_ENTRY(count), SortArguments, kCountThreads, 4) { count_digits<Key, kPairs>(words); }
WEFT_GPU_KERNEL(WEFT_ENTRY(begin), SortArguments, kDigits, 4) { begin_digits(words); }
WEFT_GPU_KERNEL(WEFT_ENTRY(pass), SortArguments, sort_threads(kPairs), sort_blocks(kPairs)) {
    sort_by_digit<Key, kPairs, sort_threads(kPairs), sort_items(sizeof(Key), kPairs)>(words);
}

#endif
