// A tile of a matrix times a vector, and its transposed one times another, in one pass over the tile: what a
// symmetric matrix of which half is read needs. Bound by memory, so this halves the time of two products.
#pragma once

#include <cstdint>

namespace weft::lapack {

// y = a x and z = aᵀ w, with a of rows x columns elements in column-major order.
template <class T>
using BothProducts = void (*)(int64_t rows, int64_t columns, const T* a, int64_t lda, const T* x, const T* w,
                              T* y, T* z);

// Of float and double, for this processor; null where two products of OpenBLAS are the way.
template <class T>
BothProducts<T> both_products();

BothProducts<float> both_products_avx2(float);
BothProducts<double> both_products_avx2(double);
BothProducts<float> both_products_avx512(float);
BothProducts<double> both_products_avx512(double);

}  // namespace weft::lapack
