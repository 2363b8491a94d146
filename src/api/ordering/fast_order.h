// The fast path that puts few elements in order (api/fast/fast_call.h): rows whose elements are
// host-resident, by the calling thread. Every function answers false, having changed nothing, when the
// general way (api/ordering/sort.cpp) has to be taken; that way also makes the errors.
#pragma once

#include "weft/array.h"

namespace weft {

// The rows lie along the last axis, or `value` has one alone.
bool try_sort(const array& value, int64_t axis, array& result);
bool try_sort_in_place(const array& target, int64_t axis);
bool try_argsort(const array& value, int64_t axis, array& result);

// Where values belong in a sorted row of their dtype: for an array of them, and for one element.
bool try_search(const array& sorted, const array& values, bool right, array& result);
bool try_search(const array& sorted, const void* value, bool right, int64_t& position);

}  // namespace weft
