// Cholesky factors, determinants, inverses and solutions of small matrices on a GPU, by programs of weft's
// own: a thread has a matrix. Where these are quicker than cuSOLVER and cuBLAS.
#pragma once

#include "weft/array.h"

namespace weft::linalg::gpu {

enum class SmallFactors : uint8_t { kCholesky, kDeterminant, kInverse, kSolve };

/// Whether they are: real square matrices, of at most 16 rows for Cholesky factors and of 8 else, with few
/// right sides; not many inverses of more than 4 rows.
bool takes_small(SmallFactors kind, const array& a, DType dtype, int64_t sides = 0);

array small_cholesky(const array& a, DType dtype, bool upper);
array small_determinant(const array& a, DType dtype);
array small_inverse(const array& a, DType dtype, bool singular_is_nan);
/// Right sides as the columns of the last two axes; both have the axes `batch` before those.
array small_solution(const array& a, const array& sides, DType dtype);

}  // namespace weft::linalg::gpu
