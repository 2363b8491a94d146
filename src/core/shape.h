// Shapes and byte strides: what NumPy computes about them before any data is touched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weft/dims.h"
#include "weft/dtype.h"

namespace weft {

// The bytes of an array of this shape. Throws ValueError for a shape that no array can have (check_shape).
int64_t checked_bytes(const Dims& shape, int64_t itemsize);
inline int64_t checked_bytes(const Dims& shape, DType dtype) {
    return checked_bytes(shape, dtype.itemsize());
}

// Of a new array, dense in C or Fortran order; of one without elements all are zero.
Dims c_strides(const Dims& shape, int64_t itemsize);
Dims f_strides(const Dims& shape, int64_t itemsize);
// The same with the axes in the order that is given.
Dims strides_by_order(const Dims& shape, std::span<const int> innermost_first, int64_t itemsize);
// Of a dense array seen in another shape, where an empty extent counts as one.
Dims reshaped_strides(const Dims& shape, int64_t itemsize, bool fortran);
bool is_c_contiguous(const Dims& shape, const Dims& strides, int64_t itemsize);
bool is_f_contiguous(const Dims& shape, const Dims& strides, int64_t itemsize);

// Throws ValueError naming all shapes when they do not broadcast.
Dims broadcast_shapes(std::span<const Dims* const> shapes);
// Strides of a view of shape `from` seen as shape `to`; the caller knows that it broadcasts.
Dims broadcast_strides(const Dims& from, const Dims& strides, const Dims& to);
bool can_broadcast(const Dims& from, const Dims& to);

// The strides of a fresh result in NumPy's K order: axes sorted as nditer sorts them by all operands (strides
// already broadcast to `shape`).
Dims k_order_strides(const Dims& shape, std::span<const Dims* const> operand_strides, int64_t itemsize);
// The strides of a fresh copy of one array in order 'C', 'F', 'A' or 'K', as NumPy's copies have them.
Dims copy_strides(const Dims& shape, const Dims& strides, int64_t itemsize, char order);

// Bytes [low, high) that a view touches, relative to the storage; empty views touch none.
struct ByteRange {
    int64_t low = 0, high = 0;
    bool empty() const { return low >= high; }
};
ByteRange byte_range(const Dims& shape, const Dims& strides, int64_t offset, int64_t itemsize);

// Whether two strided views of one storage have a byte in common. Exact for what a bounded search can decide;
// in doubt true.
struct StridedView {
    const Dims* shape;
    const Dims* strides;
    int64_t offset, itemsize;
};
bool views_overlap(const StridedView& first, const StridedView& second);
// Whether two elements of one view share a byte; in doubt true.
bool overlaps_itself(const Dims& shape, const Dims& strides, int64_t itemsize);

std::string shape_text(const Dims& shape);  // (2,3) as NumPy's messages write shapes

int normalize_axis(int64_t axis, int ndim);  // throws AxisError

}  // namespace weft
