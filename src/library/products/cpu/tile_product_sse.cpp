// The loops of tile_kernels.h for sse.
#include "library/products/cpu/tile_kernels.h"
#include "library/products/cpu/tile_product.h"

namespace weft {

TileFunction tile_function_sse(ScalarType type) { return choose_tile_function<16, 4>(type); }

}  // namespace weft
