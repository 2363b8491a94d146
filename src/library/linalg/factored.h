// Equations with a matrix that is factored, and its inverse. Many right-hand sides are cut into strips of
// columns for the threads of the pool, by the shape alone, and so all bits follow from it.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

// As getrs, with the factors and pivots of getrf: b becomes the solution. `form` is "N", "T" or "C".
template <class T>
void solve_with_lu(const char* form, int64_t n, int64_t columns, const T* factors, const int64_t* pivots,
                   T* b);

// The inverse, n x n elements, of the matrix that getrf has factored without a zero pivot.
template <class T>
void invert_lu(int64_t n, const T* factors, const int64_t* pivots, T* inverse);

// As trtrs: b becomes the solution; the position from 1 on of a zero on the diagonal, or 0.
template <class T>
int64_t solve_with_triangle(const char* triangle, const char* form, const char* diagonal, int64_t n,
                            int64_t columns, const T* a, T* b);

}  // namespace weft::lapack
