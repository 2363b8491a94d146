// The view that basic indexing gives, made index by index: shared by weft::index and by the bindings, which
// read Python's keys without a list of indices between.
#pragma once

#include <cstdint>

#include "weft/array.h"

namespace weft {

class IndexedView {
public:
    // `consumed`: how many axes the integers and slices to come will take.
    IndexedView(const array& input, size_t consumed);

    void integer(int64_t position);  // throws IndexError
    // Out-of-range bounds are clipped as Python clips them; an absent bound is given as one beyond the range.
    void slice(int64_t start, int64_t stop, int64_t step);
    void new_axis();
    void ellipsis();
    array finish();  // the axes that are left are kept whole

private:
    void keep(size_t count);
    void push(int64_t extent, int64_t stride);

    const array& input_;
    Dims shape_, strides_;
    int64_t offset_;
    size_t axis_ = 0, consumed_;
};

// Throws the IndexError of a position outside of an axis.
[[noreturn]] void throw_out_of_bounds(int64_t position, size_t axis, int64_t extent);

// The byte offset of an element along one axis, from a position that may be negative. Throws IndexError.
inline int64_t element_offset(const array& input, size_t axis, int64_t position) {
    const int64_t extent = input.shape()[axis];
    const int64_t from_start = position < 0 ? position + extent : position;
    if (from_start < 0 || from_start >= extent) throw_out_of_bounds(position, axis, extent);
    return from_start * input.strides()[axis];
}

}  // namespace weft
