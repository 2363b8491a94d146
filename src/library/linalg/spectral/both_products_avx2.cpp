// The kernel of both_products.h for avx2.
#include <cstdint>
#include <cstring>

#include "library/linalg/spectral/both_products.h"

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "library/linalg/spectral/both_products_kernels.h"
#pragma clang attribute pop

namespace weft::lapack {

BothProducts<float> both_products_avx2(float) { return BothKernel<float, 32>::run; }
BothProducts<double> both_products_avx2(double) { return BothKernel<double, 32>::run; }

}  // namespace weft::lapack
