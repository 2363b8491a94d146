// Eigenvalues and eigenvectors of a large real matrix without symmetry, its Schur form and its Hessenberg
// form, on all threads.
#pragma once

#include "library/linalg/spectral/large.h"

namespace weft::lapack {

// Of n x n elements in column-major order, which are overwritten; n values by their parts, conjugate ones one
// behind the other. `vectors`, null where values alone are wanted, is as LAPACK's geev has it: of length one,
// the real and the imaginary part of a conjugate pair in two columns.
template <class T>
Spectrum large_general_eigen(int64_t n, T* a, T* real, T* imaginary, T* vectors);

// The real Schur form: a becomes t, and `z` the orthogonal matrix with a = z t zᵀ.
template <class T>
Spectrum large_schur(int64_t n, T* a, T* z);

// a becomes h, and `q` the orthogonal matrix with a = q h qᵀ.
template <class T>
void large_hessenberg(int64_t n, T* a, T* q);

}  // namespace weft::lapack
