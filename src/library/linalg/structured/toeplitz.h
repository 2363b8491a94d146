// Equations of a batch of Toeplitz matrices, by Levinson's recursion: no matrix is made.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// x of t x = b, where t has constant diagonals: `column` is its first column and `row` its first row, whose
// first element is not read; both are matrices of one column. False where a leading minor is zero: nan then.
bool solve_toeplitz(ScalarType type, const Matrices& column, const Matrices& row, const Matrices& b,
                    const Matrices& x);

}  // namespace weft::lapack
