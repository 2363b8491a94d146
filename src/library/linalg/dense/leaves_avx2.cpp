// The kernels of leaf_kernels.h for avx2.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "library/linalg/dense/leaves.h"

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "library/linalg/dense/leaf_kernels.h"
#pragma clang attribute pop

namespace weft::lapack {

template <class T>
const LeafKernels<T>* leaf_kernels_avx2() {
    return &Leaves<T, 32>::kTable;
}
template const LeafKernels<float>* leaf_kernels_avx2();
template const LeafKernels<double>* leaf_kernels_avx2();

}  // namespace weft::lapack
