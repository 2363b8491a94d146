// Cholesky factorisations of a batch of matrices.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// The lower factor L of a = L L^H, or the upper one U of a = U^H U, from that triangle of `a`; zeros
// elsewhere. False where a matrix is not positive definite: its factor is nan then. The rows of `factor` are
// dense.
bool cholesky(ScalarType type, const Matrices& a, bool upper, const Matrices& factor);

}  // namespace weft::lapack
