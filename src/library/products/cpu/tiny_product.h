// Products of few elements of float32 and float64, with vectors and without a plan (tiny_kernels.h).
#pragma once

#include "library/products/contraction.h"

namespace weft {

struct TinyKernel {
    void (*multiply_adjacent)(const MatrixProduct& product);  // columns of the right factor and of the result
    void (*multiply_scattered)(const MatrixProduct& product);  // of any layout
};

/// Of several rows and columns. False, and nothing is written, for others and for other types.
bool multiply_tiny_matrices(ScalarType type, const MatrixProduct& product);

/// In panel_product_avx2.cpp, for float32 and float64.
TinyKernel tiny_kernel_avx2(ScalarType type);

}  // namespace weft
