// Large matrices to bidiagonal ones: the first step to their singular values. Panels of rows and columns
// (Dongarra, Hammarling and Sorensen, Block reduction of matrices to condensed forms, 1989), whose products
// with the rest of the matrix are cut into strips for the threads of the pool. The cut follows from the shape
// alone, and so do all bits.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// Of m x n elements, m >= n: a = q b pᴴ, with b of n elements on the diagonal and n - 1 above it. Column j of
// `a` below the diagonal has the reflector j of q. Column j of `right`, n x n elements, has that of p from
// row j + 1 on, and its rows above are not written.
template <class T>
void reduce_to_bidiagonal(int64_t m, int64_t n, T* a, int64_t lda, Real<T>* diagonal, Real<T>* above,
                          T* tau_q, T* tau_p, T* right);

}  // namespace weft::lapack
