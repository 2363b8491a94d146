// The loops of tile_kernels.h for avx2.
#include "library/products/cpu/tile_product.h"

#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#include "library/products/cpu/tile_kernels.h"
#pragma clang attribute pop

namespace weft {

TileFunction tile_function_avx2(ScalarType type) { return choose_tile_function<32, 4>(type); }

}  // namespace weft
