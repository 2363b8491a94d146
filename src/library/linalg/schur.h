// Schur forms and Hessenberg forms of a batch of square matrices.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// a = z t zᴴ with orthonormal z and upper triangular t; of a real matrix t has blocks of two on the diagonal
// for complex eigenvalues. False where no convergence was reached.
bool schur(ScalarType type, const Matrices& a, const Matrices& t, const Matrices& z);

// a = q h qᴴ with orthonormal q, and zeros below the first diagonal under the main one in h.
void hessenberg(ScalarType type, const Matrices& a, const Matrices& h, const Matrices& q);

}  // namespace weft::lapack
