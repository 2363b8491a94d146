// The kernels of spectral_kernels.h for avx512.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "library/linalg/batched/batched.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#include "library/linalg/batched/spectral_kernels.h"
#pragma clang attribute pop

namespace weft::batched {

KernelChoice spectral_kernel_avx512(const Batch& batch) { return choose_spectral_kernel_for<16, 16>(batch); }

}  // namespace weft::batched
