// What the subscripts of an einsum say of given operands: which axes have one label, and how long they are.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/array.h"

namespace weft {

// Labels are letters; the axes of '...' are -1, -2, ... from the last on, so that they broadcast as NumPy's.
using Labels = std::vector<int>;

inline bool has(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}
Labels without_repeats(const Labels& labels);
Labels union_of(const Labels& left, const Labels& right);

// A number for each label that there can be.
template <class T>
class ByLabel {
public:
    T& operator[](int label) { return values_[static_cast<size_t>(label + kMaxDimensions)]; }
    const T& operator[](int label) const { return values_[static_cast<size_t>(label + kMaxDimensions)]; }

private:
    std::array<T, kMaxDimensions + 'z' + 1> values_{};
};
using Extents = ByLabel<int64_t>;

struct Subscripts {
    std::vector<Labels> inputs;  // an ellipsis is spelled out
    Labels result;
    Extents extents;  // where operands broadcast, the longer one
};

// Throws ValueError, with NumPy's words, for a text that is wrong and for operands that do not fit it.
Subscripts read_subscripts(std::string_view text, std::span<const array> operands);

}  // namespace weft
