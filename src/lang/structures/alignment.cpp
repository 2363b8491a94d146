#include "lang/structures/alignment.h"

#include <algorithm>

namespace weft::lang {

namespace {

constexpr int64_t kMost = 8;  // of numbers; complex ones are two

bool are_aligned(const Layout& layout) {
    return std::ranges::all_of(layout.fields,
                               [&](const LayoutField& field) { return is_aligned(layout, field); });
}

int64_t needed(const LayoutField& field) {
    if (!field.other.empty()) return 1;  // it is copied byte by byte, if need be
    if (field.layout != nullptr) return alignment_of(*field.layout);
    const DType dtype(field.scalar);
    return dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
}

int64_t largest_power_in(int64_t number) { return number == 0 ? kMost : number & -number; }

}  // namespace

int64_t alignment_of(const Layout& layout) {
    if (!are_aligned(layout)) return std::min(kMost, largest_power_in(layout.size));
    int64_t most = 1;
    for (const LayoutField& field : layout.fields) most = std::max(most, needed(field));
    return most;
}

bool is_aligned(const Layout& layout, const LayoutField& field) {
    return field.offset % needed(field) == 0 && layout.size % needed(field) == 0;
}

int64_t piece_of(const Layout& layout, const LayoutField& field) {
    return std::min(needed(field), largest_power_in(field.offset | layout.size));
}

}  // namespace weft::lang
