// What an LU factorisation gives: solutions, inverses, determinants. Each function takes a batch of matrices
// of float32, float64, complex64 or complex128, and writes dense results or as strides say.
//
// Where kernels for many small matrices fit, a function hands its batch to them in its first lines.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// x of a x = b. False where a matrix is singular: its x is nan then.
bool solve(ScalarType type, const Matrices& a, const Matrices& b, const Matrices& x);

// False where a matrix is singular: its inverse is nan then.
bool invert(ScalarType type, const Matrices& a, const Matrices& inverse);

// A determinant for each matrix, one behind the other.
void determinants(ScalarType type, const Matrices& a, char* result);

// Their signs, of the type of `a`, and the logarithms of their absolute values, which are real.
void log_determinants(ScalarType type, const Matrices& a, char* signs, char* logarithms);

// The factors of LAPACK's getrf, in `factors` as it lies there, and the pivots from 0 on, for each matrix
// min(rows, columns). How many pivots are zero is not told: `singular` is the first of them, or -1.
void factor_lu(ScalarType type, const Matrices& a, const Matrices& factors, int64_t* pivots,
               int64_t* singular);

}  // namespace weft::lapack
