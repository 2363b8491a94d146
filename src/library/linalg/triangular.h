// Equations with triangular and with banded matrices, and square roots of triangular ones, in batches.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

struct Triangle {
    bool lower = false;
    bool unit = false;  // the diagonal counts as ones and is not read
    char form = 'N';    // the equation's matrix is `a`, transposed ('T') or its conjugate transpose ('C')
    bool divides_by_zero = false;  // a zero on the diagonal makes infinities and nan, and is not told of
};

// x of a x = b. Not negative: the position of a zero on a diagonal, of one of the matrices; its x is nan.
int64_t solve_triangular(ScalarType type, const Matrices& a, const Matrices& b, const Triangle& triangle,
                         const Matrices& x);

// x of a x = b, where `bands` holds the diagonals of `a` as rows, from the `above`-th above the main one to
// the `below`-th below it. False where a matrix is singular: its x is nan.
bool solve_banded(ScalarType type, int64_t below, int64_t above, const Matrices& bands, const Matrices& b,
                  const Matrices& x);

// The upper triangular root of an upper triangular matrix of complex numbers, which has one unless zeros on
// the diagonal forbid it. False where it was singular.
bool triangular_root(ScalarType type, const Matrices& a, const Matrices& root);

}  // namespace weft::lapack
