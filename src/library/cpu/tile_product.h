// Products of integers and bool, for which no library exists: packed panels and a block of accumulators in
// registers. Also the fallback for real numbers where there is neither OpenBLAS nor panel_product.h. Compiled
// for several instruction sets, chosen at run time; integer arithmetic gives the same bits on all of them.
#pragma once

#include <cstddef>

#include "library/contraction.h"

namespace weft {

using TileFunction = void (*)(const MatrixProduct& product);

// Null for types that have none (complex numbers, short floats).
TileFunction tile_function(ScalarType type);

// One for each instruction set, in tile_product_*.cpp.
TileFunction tile_function_avx512(ScalarType type);
TileFunction tile_function_avx2(ScalarType type);
TileFunction tile_function_sse(ScalarType type);

// Memory of this thread for packed panels, aligned to 64 bytes; valid until the next call.
char* tile_scratch(size_t bytes);

}  // namespace weft
