// Eigenvalues of a batch of general matrices, and of pairs of them, with left and right vectors.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// Where vectors are written as columns of length one, of the complex type that belongs to the matrices' type;
// null where they are not wanted.
struct TwoSides {
    const Matrices *left, *right;
};

// Complex values, n for each matrix one behind the other. False where no convergence was reached.
bool two_sided_eigen(ScalarType type, const Matrices& a, char* values, const TwoSides& vectors);

// The eigenvalues of a v = w b v as quotients alpha / beta; alpha is complex, beta of the matrices' type.
bool generalized_eigen(ScalarType type, const Matrices& a, const Matrices& b, char* alpha, char* beta,
                       const TwoSides& vectors);

}  // namespace weft::lapack
