// Some of the eigenvalues of a batch of symmetric or Hermitian matrices, and their vectors.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// In ascending order: the values from `first` to `last`, both included, counted from 0, or those above `low`
// and up to `high`.
struct EigenRange {
    bool by_value = false;
    int64_t first = 0, last = 0;
    double low = 0, high = 0;
};

// Of each matrix, of which one triangle is read, as many values as `room` says lie one behind the other, and
// as many columns of `vectors`, where it is given. `found` has how many of them there are. False where no
// convergence was reached.
bool symmetric_eigen_range(ScalarType type, const Matrices& a, bool upper, const EigenRange& range,
                           int64_t room, char* values, const Matrices* vectors, int64_t* found);

}  // namespace weft::lapack
