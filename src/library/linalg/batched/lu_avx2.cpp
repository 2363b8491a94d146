// The kernels of lu_kernels.h for avx2 and fma.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "library/linalg/batched/batched.h"

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "library/linalg/batched/lu_kernels.h"
#pragma clang attribute pop

namespace weft::batched {

KernelChoice lu_kernel_avx2(const Batch& batch) { return choose_lu_kernel_for<32>(batch); }

}  // namespace weft::batched
