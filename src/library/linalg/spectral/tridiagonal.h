// Large symmetric and Hermitian matrices to tridiagonal ones: the first step to their eigenvalues. Panels of
// columns (Dongarra, Hammarling and Sorensen, Block reduction of matrices to condensed forms, 1989), whose
// products with the rest of the matrix are cut into tiles for the threads of the pool. The cut follows from
// the shape alone, and so do all bits.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// As sytrd of the lower triangle of n x n elements: the diagonal and what is below it, and the reflectors
// H_0 H_1 ... below that in the columns of `a`, from one row below the diagonal on. What is above the
// diagonal may be changed.
template <class T>
void reduce_to_tridiagonal(int64_t n, T* a, int64_t lda, Real<T>* diagonal, Real<T>* below, T* tau);

}  // namespace weft::lapack
