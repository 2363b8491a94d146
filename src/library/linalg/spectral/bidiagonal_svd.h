// Singular values and vectors of large bidiagonal matrices by divide and conquer (Gu and Eisenstat, A divide-
// and-conquer algorithm for the bidiagonal SVD, 1995): two halves and the row between them are joined. LAPACK
// deflates and finds the roots of the secular equations; the roots, the vectors and their products are shared
// by the threads of the pool.
#pragma once

#include <vector>

#include "library/linalg/matrices.h"

namespace weft::lapack {

// Of n elements on the diagonal, which become the singular values, and n - 1 above it, which are lost: the
// columns of u and the rows of vh, n x n elements each. They are in the order of the deflation: the result
// says which value is the largest, the next, and so on, and is empty where there was no convergence.
template <class R>
std::vector<int64_t> bidiagonal_svd(int64_t n, R* diagonal, R* above, R* u, int64_t ldu, R* vh, int64_t ldvh);

}  // namespace weft::lapack
