#include "core/processor.h"

#include <cstdlib>
#include <string>

namespace weft {

namespace {

ProcessorLevel find_level() {
#if defined(__x86_64__)
    const char* named = std::getenv("WEFT_CPU");
    const std::string cpu = named == nullptr ? "" : named;
    const bool only_v2 = cpu == "x86-64" || cpu == "x86-64-v2" || cpu == "nehalem" || cpu == "sandybridge";
    const bool only_v3 = cpu == "x86-64-v3" || cpu == "haswell" || cpu.starts_with("znver1") ||
                         cpu.starts_with("znver2") || cpu.starts_with("znver3");
    if (only_v2) return ProcessorLevel::kX86V2;
    if (__builtin_cpu_supports("x86-64-v4") && !only_v3) return ProcessorLevel::kX86V4;
    if (__builtin_cpu_supports("x86-64-v3")) return ProcessorLevel::kX86V3;
#endif
    return ProcessorLevel::kX86V2;
}

}  // namespace

ProcessorLevel processor_level() {
    static const ProcessorLevel level = find_level();
    return level;
}

bool has_wide_products() {
#if defined(__x86_64__)
    return processor_level() == ProcessorLevel::kX86V4 && __builtin_cpu_supports("avx512ifma") &&
           __builtin_cpu_supports("avx512vbmi2");
#else
    return false;
#endif
}

}  // namespace weft
