#include "library/products/cpu/narrow_product.h"

#include "core/processor.h"

namespace weft {

const NarrowKernels* narrow_kernels(ScalarType type) {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return narrow_kernels_avx512(type);
        case ProcessorLevel::kX86V3: return narrow_kernels_avx2(type);
        case ProcessorLevel::kX86V2: break;
    }
    return nullptr;
}

bool fits_rows(const NarrowKernels& kernels, const MatrixProduct& product) {
    constexpr int64_t kManyRows = 64;
    return product.m >= kManyRows && product.n <= kMostNarrow && product.k <= kMostNarrow &&
           product.left_step == kernels.itemsize && product.left_row == product.k * kernels.itemsize &&
           product.out_column == kernels.itemsize && product.out_row == product.n * kernels.itemsize;
}

bool fits_columns(const NarrowKernels& kernels, const MatrixProduct& product) {
    return product.m <= kMostNarrow && product.n <= kMostNarrow && product.n <= kernels.lanes &&
           product.k > kMostNarrow && product.right_column == kernels.itemsize &&
           product.right_step >= product.n * kernels.itemsize;
}

}  // namespace weft
