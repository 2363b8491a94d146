// Eigenvalues and eigenvectors of large symmetric tridiagonal matrices by divide and conquer (Cuppen, 1981;
// Gu and Eisenstat, A divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem, 1995): halves
// are solved, and a correction of rank one joins them. LAPACK deflates and finds the roots of the secular
// equations; the roots, the vectors and their products are shared by the threads of the pool.
#pragma once

#include <vector>

#include "library/linalg/matrices.h"

namespace weft::lapack {

// Of n elements on the diagonal, which become the eigenvalues, and n - 1 below, which are lost. q gets n x n
// elements, the eigenvectors as columns. Values and columns are in the order of the deflation: the result
// says which comes first, and so on, and is empty where there was no convergence.
template <class R>
std::vector<int64_t> tridiagonal_eigen(int64_t n, R* diagonal, R* below, R* q, int64_t ldq);

}  // namespace weft::lapack
