// Spectra of many small matrices on a GPU, by programs of weft's own: a thread has a matrix. Where these are
// quicker than cuSOLVER, which works on each matrix by many threads.
#pragma once

#include "weft/array.h"

namespace weft::linalg::gpu {

enum class SmallSpectrum : uint8_t { kEigh, kEigvalsh, kSvd, kSvdvals };

/// Whether they are: real matrices of at most 16 rows and columns, and enough of them.
bool takes_small(SmallSpectrum kind, const array& a, DType dtype);

struct SmallSpectra {
    array values;
    array left, right;  // eigenvectors; U and Vh; not valid where they are not wanted
};
/// Ascending eigenvalues of symmetric matrices, of which one triangle is read.
SmallSpectra small_symmetric(const array& a, DType dtype, bool upper, bool with_vectors);
/// Descending singular values.
SmallSpectra small_singular(const array& a, DType dtype, bool full_matrices, bool with_vectors);

}  // namespace weft::linalg::gpu
