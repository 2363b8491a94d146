// The kernels of lu_kernels.h for avx512.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "library/linalg/batched/batched.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#include "library/linalg/batched/lu_kernels.h"
#pragma clang attribute pop

namespace weft::batched {

KernelChoice lu_kernel_avx512(const Batch& batch) { return choose_lu_kernel_for<64>(batch); }

}  // namespace weft::batched
