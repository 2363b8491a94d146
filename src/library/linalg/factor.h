// Factorisations of one matrix in column-major order in its place. LAPACK factorises small ones. Large ones
// are cut into panels: LAPACK factorises a panel on one thread, while others bring strips of columns beyond
// it up to date with the panel before. How a matrix is cut follows from its shape alone, and so do all bits
// of the result.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// As getrf: the position from 1 on of the first zero pivot, or 0.
template <class T>
int64_t lu_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots);

// As potrf, of the upper triangle: the order from 1 on of the first minor that is not positive, or 0. What is
// below the diagonal may be changed.
template <class T>
int64_t cholesky_in_place(int64_t n, T* a, int64_t lda);

// As geqrf: R in the upper triangle, reflectors below, their factors in `tau`.
template <class T>
void qr_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau);

// As orgqr: the first `columns` columns of the Q of `count` reflectors, in their place.
template <class T>
void q_in_place(int64_t rows, int64_t columns, int64_t count, T* a, int64_t lda, const T* tau);

}  // namespace weft::lapack
