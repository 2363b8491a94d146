// The fast path through one array of positions or one mask (api/fast/fast_call.h): x[i], x[mask] and
// assignments to them, for few host-resident elements. Every function returns false, having changed nothing,
// where the general path (gather.h, scatter.h, compress) must be taken. All throw IndexError for positions
// that are out of bounds.
#pragma once

#include "api/fast/fast_call.h"

namespace weft {

// from[index] along the first axis, whose elements are single ones or dense pieces. More elements are taken
// now as well where the call would check the indices anyway, or runs eagerly.
bool try_gather(const array& from, const array& index, array& result);
// from[mask], of the same shape.
bool try_compress(const array& from, const array& mask, array& result);

// Elements where the mask is true become those of a row of the target's dtype, over and over. The row runs
// along the chosen elements, or along all of them.
enum class Along : uint8_t { kChosen, kAll };
bool try_fill(const array& target, const array& mask, const array& row, Along along);
// target[index] = value and target[mask] = value.
bool try_scatter(const array& target, const array& index, GivenOperand& value);

}  // namespace weft
