// The kernel of bulges.h for avx512.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "library/linalg/general/bulges.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#include "library/linalg/general/bulge_kernels.h"
#pragma clang attribute pop

namespace weft::lapack {

ChaseBulges<float> chase_bulges_avx512(float) { return BulgeKernel<float, 64>::run; }
ChaseBulges<double> chase_bulges_avx512(double) { return BulgeKernel<double, 64>::run; }

}  // namespace weft::lapack
