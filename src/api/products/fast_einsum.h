// The fast path of einsum: one product of two matrices or vectors of few elements.
#pragma once

#include <string_view>

#include "weft/array.h"

namespace weft {

/// What einsum gives for such as 'ij,jk->ik', 'ij,kj->ik', 'ij,j->i' and 'ij,ij->', of two operands of one
/// dtype in C order. False for other texts and operands, and where anything is wrong with them.
bool try_einsum(std::string_view text, const array& left, const array& right, array& result);

}  // namespace weft
