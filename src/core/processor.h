// Which instructions code that was compiled ahead of time may use.
#pragma once

#include <cstdint>

namespace weft {

enum class ProcessorLevel : uint8_t { kX86V2, kX86V3, kX86V4 };

// What the processor has. A CPU that WEFT_CPU names bounds it, as it bounds the kernel compiler.
ProcessorLevel processor_level();

// The instructions of x86-64-v4, products of 52-bit integers (IFMA), and shifts of two words (VBMI2).
bool has_wide_products();

}  // namespace weft
