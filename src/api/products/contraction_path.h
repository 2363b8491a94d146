// In which order einsum multiplies its operands, two at a time, and what that costs.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "api/products/subscripts.h"
#include "weft/products.h"

namespace weft {

// Positions among the operands that are left, the lower one first; their product becomes the last of them.
using Pair = std::pair<size_t, size_t>;

// The pairs to multiply of operands with these labels, each once in an operand.
std::vector<Pair> find_pairs(std::span<const Labels> operands, const Labels& result, const Extents& extents,
                             PathSearch search);

// The steps of a call, each of one operand or more; the last step leaves one. Throws ValueError where a path
// that was given does not fit the operands.
ContractionPath path_of(const Subscripts& subscripts, const PathChoice& choice);

// The number of elements with these labels.
double size_of(const Labels& labels, const Extents& extents);

}  // namespace weft
