// Singular values and vectors of one large matrix on the threads of the pool: to a bidiagonal matrix, its
// singular vectors, and the reflectors of the reduction applied to them. A tall matrix is first its Q times a
// square one.
#pragma once

#include "library/linalg/spectral/large.h"

namespace weft::lapack {

// Of m x n elements, m >= n, in column-major order, which are lost: n values in descending order and, unless
// `left` is null, vectors as columns, `left_columns` (n to m) of m elements and n of n. LAPACK, which scales,
// is left with elements that are too large or too small, and where there was no convergence.
template <class T>
Spectrum large_svd(int64_t m, int64_t n, T* a, Real<T>* values, int64_t left_columns, T* left, T* right);

}  // namespace weft::lapack
