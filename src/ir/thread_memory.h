// What kernel IR knows of the memory that CUDA-style kernels give their threads.
#pragma once

#include <cstdint>

namespace weft::ir {

// The alias scope of a thread's own memory. Its arrays are views of it, each at a place of its own, so those
// at different places do not overlap.
inline constexpr uint16_t kOwnMemoryScope = 64001;

}  // namespace weft::ir
