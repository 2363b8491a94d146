// The kernels of spectral_kernels.h for avx2 and fma.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "library/linalg/batched/batched.h"

// Vectors of two registers, whose long chains of operations overlap. No function that takes them is called
// from elsewhere, so how they are passed does not matter.
#pragma clang diagnostic ignored "-Wpsabi"
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "library/linalg/batched/spectral_kernels.h"
#pragma clang attribute pop

namespace weft::batched {

KernelChoice spectral_kernel_avx2(const Batch& batch) { return choose_spectral_kernel_for<16, 8>(batch); }

}  // namespace weft::batched
