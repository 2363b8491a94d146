// The kernel of bulges.h for avx2.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "library/linalg/general/bulges.h"

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "library/linalg/general/bulge_kernels.h"
#pragma clang attribute pop

namespace weft::lapack {

ChaseBulges<float> chase_bulges_avx2(float) { return BulgeKernel<float, 32>::run; }
ChaseBulges<double> chase_bulges_avx2(double) { return BulgeKernel<double, 32>::run; }

}  // namespace weft::lapack
