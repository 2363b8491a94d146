// Eigenvalues and eigenvectors of a batch of matrices.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// Of symmetric or Hermitian matrices, of which one triangle is read: the eigenvalues in ascending order,
// real, n for each matrix one behind the other, and the vectors as columns. False where no convergence was
// reached: nan then.
bool symmetric_eigen(ScalarType type, const Matrices& a, bool upper, char* values, const Matrices& vectors);
bool symmetric_eigenvalues(ScalarType type, const Matrices& a, bool upper, char* values);

// Of square matrices: complex eigenvalues and vectors, of the complex type that belongs to `type`.
bool eigen(ScalarType type, const Matrices& a, char* values, const Matrices& vectors);
bool eigenvalues(ScalarType type, const Matrices& a, char* values);

}  // namespace weft::lapack
