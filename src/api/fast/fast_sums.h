// Sums of products of few elements, without nodes and intermediate arrays: norms, and products of vectors.
// Their bits are those of the operations they are composed of. As in fast_call.h, false has changed nothing.
#pragma once

#include "weft/array.h"

namespace weft {

/// The root of the sum of the squares of all elements, of float64, float32, complex64, complex128, or
/// integers and bool as float64.
bool try_norm(const array& input, DType& dtype, void* element);
/// The sums over the last axis of the products of two arrays of one dtype and shape, or of an array and a
/// vector. Neither is complex.
bool try_vecdot(const array& left, const array& right, array& result);

}  // namespace weft
