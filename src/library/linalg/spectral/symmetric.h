// Eigenvalues and eigenvectors of one large symmetric or Hermitian matrix on the threads of the pool:
// to a tridiagonal matrix, its eigenvectors, and the reflectors of the reduction applied to them.
#pragma once

#include "library/linalg/spectral/large.h"

namespace weft::lapack {

// Of the lower triangle of n x n elements in column-major order, which are lost: n values in ascending order
// and, unless null, n x n elements of vectors, as columns. LAPACK, which scales, is left with elements that
// are too large or too small, and where there was no convergence.
template <class T>
Spectrum large_symmetric_eigen(int64_t n, T* a, Real<T>* values, T* vectors);

}  // namespace weft::lapack
