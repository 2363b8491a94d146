// Where values belong in a sorted row: a thread for each of them, which halves the row.
#include "library/gpu/threads.h"
#include "library/ordering/cuda/kernel_arguments.h"
#include "library/ordering/cuda/order_keys.h"

namespace {

using namespace weft::gpu;

// `is_before(i)`: whether element i of the row belongs before the value.
template <class IsBefore>
void write_place(const SearchArguments& words, uint64_t at, const IsBefore& is_before) {
    uint64_t low = 0, rest = words.length;
    while (rest > 0) {
        const uint64_t half = rest / 2;
        const bool before = is_before(low + half);
        low = before ? low + half + 1 : low;
        rest = before ? rest - half - 1 : half;
    }
    pointer<uint64_t>(words.output)[at] = low;
}

uint64_t own_value() { return uint64_t{block()} * kEachThreads + thread(); }

template <class Key>
void search(const SearchArguments& words) {
    const uint64_t at = own_value();
    if (at >= words.count) return;
    const KeyRule<Key, true> rule(words.kind, words.infinity);
    const Key* const row = pointer<const Key>(words.row);
    const Key value = rule.key(pointer<const Key>(words.values)[at]);
    write_place(words, at, [&](uint64_t i) {
        const Key key = rule.key(row[i]);
        return words.right != 0 ? key <= value : key < value;
    });
}

ComplexKey<uint64_t> wide_key(uint64_t address, uint64_t i) {
    const uint64_t* const parts = pointer<const uint64_t>(address) + 2 * i;
    return complex_key<uint64_t>(parts[0], parts[1], 0x7ff0000000000000, true);
}

bool is_less(const ComplexKey<uint64_t>& a, const ComplexKey<uint64_t>& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

}  // namespace

WEFT_GPU_KERNEL(weft_search_8, SearchArguments, kEachThreads, 4) { search<uint8_t>(words); }
WEFT_GPU_KERNEL(weft_search_16, SearchArguments, kEachThreads, 4) { search<uint16_t>(words); }
WEFT_GPU_KERNEL(weft_search_32, SearchArguments, kEachThreads, 4) { search<uint32_t>(words); }
WEFT_GPU_KERNEL(weft_search_64, SearchArguments, kEachThreads, 4) { search<uint64_t>(words); }
WEFT_GPU_KERNEL(weft_search_128, SearchArguments, kEachThreads, 4) {
    const uint64_t at = own_value();
    if (at >= words.count) return;
    const auto value = wide_key(words.values, at);
    write_place(words, at, [&](uint64_t i) {
        const auto key = wide_key(words.row, i);
        return words.right != 0 ? !is_less(value, key) : is_less(key, value);
    });
}
