#include "library/ordering/key_order.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "library/ordering/cpu/vector_sort.h"

namespace weft {

namespace {

constexpr size_t kInserted = 16;  // keys that are sorted by insertion

// Of numbers whose leading bits are equal, and whose positions therefore ascend.
void mend_run(std::span<const uint64_t> keys, std::span<uint64_t> run, uint64_t positions) {
    const auto key_of = [&](uint64_t number) { return keys[number & positions]; };
    const auto less = [&](uint64_t a, uint64_t b) { return key_of(a) < key_of(b); };
    if (std::is_sorted(run.begin(), run.end(), less)) return;
    if (run.size() <= kInserted) {
        for (size_t k = 1; k < run.size(); ++k) {
            const uint64_t number = run[k];
            size_t to = k;
            for (; to > 0 && less(number, run[to - 1]); --to) run[to] = run[to - 1];
            run[to] = number;
        }
        return;
    }
    std::vector<WideKey> wide(run.size());
    for (size_t k = 0; k < run.size(); ++k) wide[k] = {run[k], key_of(run[k])};
    vector_sort(std::span<WideKey>(wide));
    for (size_t k = 0; k < run.size(); ++k) run[k] = wide[k].low;
}

}  // namespace

void order_of_keys(std::span<const uint64_t> keys, std::span<uint64_t> order) {
    if (keys.empty()) return;
    uint64_t low = keys[0], high = keys[0];
    for (const uint64_t key : keys) {
        low = std::min(low, key);
        high = std::max(high, key);
    }
    const int position_bits = std::bit_width(keys.size() - 1);
    const int dropped = std::max(static_cast<int>(std::bit_width(high - low)) - (64 - position_bits), 0);
    for (size_t i = 0; i < keys.size(); ++i) order[i] = ((keys[i] - low) >> dropped) << position_bits | i;
    if (low == high) return;
    vector_sort(order);
    const uint64_t positions = (uint64_t{1} << position_bits) - 1;
    if (dropped != 0) {
        for (size_t begin = 0, end = 1; end <= order.size(); ++end) {
            if (end < order.size() && (order[begin] ^ order[end]) <= positions) continue;
            if (end - begin > 1) mend_run(keys, order.subspan(begin, end - begin), positions);
            begin = end;
        }
    }
    for (uint64_t& number : order) number &= positions;
}

}  // namespace weft
