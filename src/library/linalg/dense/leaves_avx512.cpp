// The kernels of leaf_kernels.h for avx512.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "library/linalg/dense/leaves.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,prfchw"))), \
                             apply_to = function)
#include "library/linalg/dense/leaf_kernels.h"
#pragma clang attribute pop

namespace weft::lapack {

template <class T>
const LeafKernels<T>* leaf_kernels_avx512() {
    return &Leaves<T, 64>::kTable;
}
template const LeafKernels<float>* leaf_kernels_avx512();
template const LeafKernels<double>* leaf_kernels_avx512();

}  // namespace weft::lapack
