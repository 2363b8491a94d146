#include "library/linalg/dense/leaves.h"

#include "core/processor.h"

namespace weft::lapack {

template <class T>
const LeafKernels<T>* leaf_kernels() {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return leaf_kernels_avx512<T>();
        case ProcessorLevel::kX86V3: return leaf_kernels_avx2<T>();
        case ProcessorLevel::kX86V2: break;
    }
    return nullptr;
}
template const LeafKernels<float>* leaf_kernels();
template const LeafKernels<double>* leaf_kernels();

}  // namespace weft::lapack
