// Schur forms and Hessenberg forms of a batch of square matrices.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// a = z t zᴴ with orthonormal z and upper triangular t; of a real matrix t has blocks of two on the diagonal
// for complex eigenvalues. False where no convergence was reached.
bool schur(ScalarType type, const Matrices& a, const Matrices& t, const Matrices& z);

// The eigenvalues on the diagonal of such a t: complex, as many for each matrix as it has rows.
void schur_eigenvalues(ScalarType type, const Matrices& t, char* values);

// The same form with the chosen eigenvalues first: `chosen` has a number other than zero for each of them.
// `count` says how many they are of each matrix. False where they are too close to be separated.
bool sort_schur(ScalarType type, const Matrices& t, const Matrices& z, const int64_t* chosen,
                const Matrices& sorted_t, const Matrices& sorted_z, int64_t* count);

// a = q h qᴴ with orthonormal q, and zeros below the first diagonal under the main one in h.
void hessenberg(ScalarType type, const Matrices& a, const Matrices& h, const Matrices& q);

}  // namespace weft::lapack
