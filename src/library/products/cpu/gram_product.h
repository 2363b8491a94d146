// A matrix times its own transpose: half of the result is computed, and the other half is its mirror image.
#pragma once

#include <cstdint>
#include <functional>

#include "library/products/contraction.h"

namespace weft::cpu_product {

// Whether both factors are the same memory, one transposed, and there is enough of the result for two halves.
bool is_gram(const MatrixProduct& product, int64_t itemsize);

// `multiply` computes one product of rectangles, with the bits that its elements have in the whole product.
// Says how many tasks there were.
int64_t multiply_gram(const MatrixProduct& product, int64_t itemsize, int64_t panel_columns,
                      const std::function<int64_t(const MatrixProduct&)>& multiply);

}  // namespace weft::cpu_product
