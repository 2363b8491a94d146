// The kernel of both_products.h for avx512.
#include <cstdint>
#include <cstring>

#include "library/linalg/spectral/both_products.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#include "library/linalg/spectral/both_products_kernels.h"
#pragma clang attribute pop

namespace weft::lapack {

BothProducts<float> both_products_avx512(float) { return BothKernel<float, 64>::run; }
BothProducts<double> both_products_avx512(double) { return BothKernel<double, 64>::run; }

}  // namespace weft::lapack
