// Singular values of a batch of matrices, and least squares by them.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// Which routine: divide and conquer, or QR iterations.
enum class SvdDriver : uint8_t { kGesdd, kGesvd };

// a = u diag(s) vh, with the singular values of each matrix one behind the other, from the largest on; `u`
// and `vh` are of min(rows, columns) columns and rows, or square. False where no convergence was reached: nan
// then.
bool svd(ScalarType type, const Matrices& a, const Matrices& u, char* s, const Matrices& vh,
         SvdDriver driver = SvdDriver::kGesdd);
bool singular_values(ScalarType type, const Matrices& a, char* s, SvdDriver driver = SvdDriver::kGesdd);

// The x of smallest norm among those that bring a x closest to b. Singular values up to `rcond` times the
// largest count as zero; `rank` says how many do not. `solved` has max(rows, columns) rows: x and, below it
// where the rank is full, what the residuals are made of. False where no convergence was reached.
bool least_squares(ScalarType type, const Matrices& a, const Matrices& b, double rcond,
                   const Matrices& solved, char* s, int64_t* rank);

}  // namespace weft::lapack
