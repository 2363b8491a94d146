// Products of integers and bool, for which no library exists: packed panels and a block of accumulators in
// registers. Also the fallback for real numbers where there is neither OpenBLAS nor panel_product.h. Compiled
// for several instruction sets, chosen at run time; integer arithmetic gives the same bits on all of them.
#pragma once

#include <cstddef>
#include <memory>

#include "library/products/contraction.h"

namespace weft {

class Buffer;

using TileFunction = void (*)(const MatrixProduct& product);

// Null for types that have none (complex numbers, 16-bit floats).
TileFunction tile_function(ScalarType type);

// One for each instruction set, in tile_product_*.cpp.
TileFunction tile_function_avx512(ScalarType type);
TileFunction tile_function_avx2(ScalarType type);
TileFunction tile_function_sse(ScalarType type);

// Memory for packed panels: a little on the stack, more from the pool and back to it. Nothing here is inline,
// since it is used by files that are compiled for different instruction sets.
class TileScratch {
public:
    explicit TileScratch(size_t bytes);  // throws OutOfMemoryError
    ~TileScratch();
    TileScratch(const TileScratch&) = delete;
    TileScratch& operator=(const TileScratch&) = delete;

private:
    static constexpr size_t kNearBytes = 4096;
    alignas(64) char near_[kNearBytes];
    std::shared_ptr<Buffer> buffer_;

public:
    char* const data;
};

}  // namespace weft
