// Products of float32 and float64 with few columns, which fill no vector: many rows times a tiny matrix, and
// few rows times few columns that are long. They read their factors where these lie. Their bits are those of
// panel_product.h.
#pragma once

#include <cstdint>

#include "library/products/contraction.h"

namespace weft {

constexpr int64_t kMostNarrow = 4;  // columns; rows of the tiny matrix, or of few rows

struct NarrowKernels {
    int64_t itemsize;
    int64_t lanes;  // of a vector
    // Rows times a matrix of at most kMostNarrow rows and columns. Both and the result are dense.
    void (*multiply_rows)(const MatrixProduct& product);
    // At most kMostNarrow rows, and columns that are adjacent and fit into a vector; k in blocks of `depth`.
    void (*multiply_columns)(const MatrixProduct& product, int64_t depth);
};

// Null for other types, and without fused multiply-adds.
const NarrowKernels* narrow_kernels(ScalarType type);

// One for each instruction set, in panel_product_*.cpp.
const NarrowKernels* narrow_kernels_avx512(ScalarType type);
const NarrowKernels* narrow_kernels_avx2(ScalarType type);

bool fits_rows(const NarrowKernels& kernels, const MatrixProduct& product);
bool fits_columns(const NarrowKernels& kernels, const MatrixProduct& product);

}  // namespace weft
