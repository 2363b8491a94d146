// Which batches of small matrices go to the kernels of batched/ rather than to LAPACK. Each function does so,
// or returns nothing: where the matrices are too few or too large, of another type, or results lie in
// irregular strides. Otherwise it says, as the function of the same name over LAPACK, whether all went well.
#pragma once

#include <optional>

#include "library/linalg/matrices.h"

namespace weft::lapack::small {

std::optional<bool> solve(ScalarType type, const Matrices& a, const Matrices& b, const Matrices& x);
std::optional<bool> invert(ScalarType type, const Matrices& a, const Matrices& inverse);
std::optional<bool> determinants(ScalarType type, const Matrices& a, char* result);
std::optional<bool> log_determinants(ScalarType type, const Matrices& a, char* signs, char* logarithms);
std::optional<bool> cholesky(ScalarType type, const Matrices& a, bool upper, const Matrices& factor);
std::optional<bool> symmetric_eigen(ScalarType type, const Matrices& a, bool upper, char* values,
                                    const Matrices* vectors);
std::optional<bool> reflectors(ScalarType type, const Matrices& a, const Matrices& factored, char* tau);
std::optional<bool> qr(ScalarType type, const Matrices& a, const Matrices* q, const Matrices& r);
std::optional<bool> svd(ScalarType type, const Matrices& a, const Matrices* u, char* s, const Matrices* vh);

}  // namespace weft::lapack::small
