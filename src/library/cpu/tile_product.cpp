#include "library/cpu/tile_product.h"

#include <cstdint>
#include <memory>

#include "core/processor.h"

namespace weft {

TileFunction tile_function(ScalarType type) {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return tile_function_avx512(type);
        case ProcessorLevel::kX86V3: return tile_function_avx2(type);
        case ProcessorLevel::kX86V2: break;
    }
    return tile_function_sse(type);
}

char* tile_scratch(size_t bytes) {
    constexpr size_t kAlignment = 64;
    thread_local std::unique_ptr<char[]> memory;
    thread_local size_t held = 0;
    if (held < bytes + kAlignment) {
        memory = nullptr;
        held = 0;
        memory = std::make_unique_for_overwrite<char[]>(bytes + kAlignment);
        held = bytes + kAlignment;
    }
    const auto address = reinterpret_cast<uintptr_t>(memory.get());
    return memory.get() + (kAlignment - address % kAlignment) % kAlignment;
}

}  // namespace weft
