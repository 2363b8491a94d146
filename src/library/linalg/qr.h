// QR factorisations of a batch of matrices.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// As LAPACK has it: R above the diagonal of `factored`, reflectors below; min(rows, columns) of their factors
// for each matrix in `tau`.
void reflectors(ScalarType type, const Matrices& a, const Matrices& factored, char* tau);

// Q with orthonormal columns, of which `q` says how many, and the upper triangular R with as many rows.
void qr(ScalarType type, const Matrices& a, const Matrices& q, const Matrices& r);

// R alone, of min(rows, columns) rows.
void qr_r(ScalarType type, const Matrices& a, const Matrices& r);

// With columns in the order of `pivots`, from 0 on, for each matrix as many as it has columns: the diagonal
// of R does not grow. `q` has no columns where it is not wanted.
void pivoted_qr(ScalarType type, const Matrices& a, const Matrices& q, const Matrices& r, int64_t* pivots);

// The same as reflectors has it.
void pivoted_reflectors(ScalarType type, const Matrices& a, const Matrices& factored, char* tau,
                        int64_t* pivots);

}  // namespace weft::lapack
