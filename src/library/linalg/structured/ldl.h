// Bunch and Kaufman's factorisation of a batch of symmetric or Hermitian matrices.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

struct LdlKind {
    bool lower, hermitian;
};

// a = factor * middle * factorᴴ, or its transposed where it is not `hermitian`. `middle` has blocks of one
// and two on its diagonal; `order`, as many numbers for each matrix as it has rows, are the rows of `factor`
// that make it a unit triangle. One triangle of `a` is read.
void factor_ldl(ScalarType type, const Matrices& a, const LdlKind& kind, const Matrices& factor,
                const Matrices& middle, int64_t* order);

}  // namespace weft::lapack
