// The order in which a reduction combines its elements, which decides the bits of a sum of floats. The
// scalar oracle goes by it step by step; code generators come to the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft::ir {

// Elements [start, start + count), each to the accumulator of its lane; then the lanes by halves.
template <class Values, class Element, class Combine>
Values reduce_lanes(int64_t start, int64_t count, int64_t lanes, const Values& initials,
                    const Element& element, const Combine& combine) {
    int64_t width = std::min(count, lanes);
    std::vector<Values> accumulators(static_cast<size_t>(width), initials);
    for (int64_t k = 0; k < count; k++) {
        Values& accumulator = accumulators[static_cast<size_t>(k % lanes)];
        accumulator = combine(accumulator, element(start + k));
    }
    for (int64_t half = lanes / 2; half >= 1; half /= 2) {
        for (int64_t l = 0; l + half < width; l++) {
            Values& left = accumulators[static_cast<size_t>(l)];
            left = combine(left, accumulators[static_cast<size_t>(l + half)]);
        }
        width = std::min(width, half);
    }
    return accumulators[0];
}

// Blocks of elements, or one of all where `block` is 0, combined as a tree: a binary counter, in which level
// k holds the result of 2^k neighbouring blocks. Blocks of one element have no initial values.
template <class Values, class Element, class Combine>
Values reduce_in_order(int64_t size, int64_t block, int64_t lanes, const Values& initials,
                       const Element& element, const Combine& combine) {
    if (size <= 0) return initials;
    const bool each_alone = block == 1;
    if (block == 0) block = size;
    std::vector<std::optional<Values>> levels;
    for (int64_t start = 0; start < size; start += block) {
        Values carry = each_alone ? element(start)
                                  : reduce_lanes(start, std::min(block, size - start), lanes, initials,
                                                 element, combine);
        size_t level = 0;
        for (; level < levels.size() && levels[level]; level++) {
            carry = combine(*levels[level], carry);
            levels[level].reset();
        }
        if (level == levels.size()) levels.emplace_back();
        levels[level] = std::move(carry);
    }
    std::optional<Values> result;
    for (const std::optional<Values>& partial : levels) {
        if (partial) result = result ? combine(*partial, *result) : *partial;
    }
    return *result;
}

}  // namespace weft::ir
