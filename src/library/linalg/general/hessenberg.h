// A square matrix becomes one with a single diagonal below the main one, by panels: within a panel the matrix
// is read once for each column, and then brought up to date by products (Dongarra, Hammarling, Sorensen,
// Block reduction of matrices to condensed forms for eigenvalue computations, 1989).
#pragma once

#include <cstdint>

namespace weft::lapack {

// As LAPACK's gehrd, of n x n elements in column-major order: h = Qᵀ a Q, with reflectors behind the first
// diagonal below the main one, and their n - 1 factors in `tau`. Rows and columns before `low` and from
// `high` on are triangular before. Who calls holds BlasThreads.
template <class T>
void reduce_to_hessenberg(int64_t n, int64_t low, int64_t high, T* a, int64_t lda, T* tau);

// The orthogonal matrix of those reflectors; the diagonals that h has are read no more.
template <class T>
void hessenberg_vectors(int64_t n, int64_t low, int64_t high, const T* a, int64_t lda, const T* tau, T* q,
                        int64_t ldq);

}  // namespace weft::lapack
