#include "library/cpu/tile_product.h"

#include <cstdint>
#include <memory>

namespace weft {

namespace {

enum class InstructionSet { kSse, kAvx2, kAvx512 };

InstructionSet instruction_set() {
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return InstructionSet::kAvx512;
    return __builtin_cpu_supports("avx2") ? InstructionSet::kAvx2 : InstructionSet::kSse;
}

}  // namespace

TileFunction tile_function(ScalarType type) {
    static const InstructionSet set = instruction_set();
    switch (set) {
        case InstructionSet::kAvx512: return tile_function_avx512(type);
        case InstructionSet::kAvx2: return tile_function_avx2(type);
        case InstructionSet::kSse: break;
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
