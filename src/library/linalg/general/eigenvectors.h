// Right eigenvectors of a matrix from its real Schur form, by halves, so that nearly all work is in products.
#pragma once

#include <cstdint>

namespace weft::lapack {

// Of n x n elements in column-major order: `t` is quasi-triangular, with blocks of two as LAPACK has them,
// and `real` and `imaginary` are its eigenvalues. `z` becomes z x, with the real and the imaginary part of a
// conjugate pair in two columns. False where elements overflowed, as with eigenvalues that are nearly equal
// many times: z is as before then. Who calls holds BlasThreads.
template <class T>
bool vectors_of_schur(int64_t n, const T* t, int64_t ldt, const T* real, const T* imaginary, T* z,
                      int64_t ldz);

}  // namespace weft::lapack
