// The real Schur form of a Hessenberg matrix by the multishift QR algorithm with aggressive early deflation
// (Braman, Byers, Mathias, SIAM J. Matrix Anal. Appl. 23, 2002): small windows are LAPACK's, chains of bulges
// are chased by kernels of weft's own, and what is outside of a window is multiplied by weft's own products.
#pragma once

#include <cstdint>

namespace weft::lapack {

// Whether this processor has the kernels.
template <class T>
bool has_windows();

// Of n x n elements in column-major order: h becomes T, and z becomes z Q, with h = Q T Qᵀ. Blocks of two are
// as LAPACK has them. Where `z` is null, blocks on the diagonal have the eigenvalues, and other elements no
// meaning. Rows and columns before `low` and from `high` on have been isolated before. False where there was
// no convergence, or no kernel: both matrices have no meaning then. Who calls holds BlasThreads.
template <class T>
bool schur_of_hessenberg(int64_t n, int64_t low, int64_t high, T* h, int64_t ldh, T* z, int64_t ldz);

}  // namespace weft::lapack
