// Eigenvalues and eigenvectors of one large symmetric or Hermitian matrix on the threads of the pool:
// to a tridiagonal matrix, its eigenvectors, and the reflectors of the reduction applied to them.
#pragma once

#include "library/linalg/spectral/large.h"

namespace weft::lapack {

// Of the lower triangle of n x n elements in column-major order, which are lost: n values in ascending order
// and, unless null, n x n elements of vectors, as columns. False where there was no convergence, or where the
// elements are too large, too small or not finite: LAPACK, which scales, decides about these.
template <class T>
bool large_symmetric_eigen(int64_t n, T* a, Real<T>* values, T* vectors);

}  // namespace weft::lapack
