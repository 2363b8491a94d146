#include "library/products/cpu/tile_product.h"

#include "core/processor.h"
#include "device/device.h"

namespace weft {

TileFunction tile_function(ScalarType type) {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return tile_function_avx512(type);
        case ProcessorLevel::kX86V3: return tile_function_avx2(type);
        case ProcessorLevel::kX86V2: break;
    }
    return tile_function_sse(type);
}

TileScratch::TileScratch(size_t bytes)
    : buffer_(bytes <= kNearBytes ? nullptr : cpu_device().allocate(bytes)),
      data(buffer_ == nullptr ? near_ : buffer_->data()) {}
TileScratch::~TileScratch() = default;

}  // namespace weft
