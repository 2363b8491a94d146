// The loops of tile_kernels.h for avx512.
#include "library/products/cpu/tile_product.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#include "library/products/cpu/tile_kernels.h"
#pragma clang attribute pop

namespace weft {

TileFunction tile_function_avx512(ScalarType type) { return choose_tile_function<64, 8>(type); }

}  // namespace weft
