// The kernels of panel_kernels.h, narrow_kernels.h and tiny_kernels.h for avx2 and fma.
#include "library/products/cpu/panel_product.h"
#include "library/products/cpu/tiny_product.h"

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "library/products/cpu/narrow_kernels.h"
#include "library/products/cpu/panel_kernels.h"
#include "library/products/cpu/tiny_kernels.h"
#pragma clang attribute pop

namespace weft {

const PanelKernels* panel_kernels_avx2(ScalarType type) { return choose_panel_kernels<32, 6>(type); }

const NarrowKernels* narrow_kernels_avx2(ScalarType type) { return choose_narrow_kernels<32>(type); }

TinyKernel tiny_kernel_avx2(ScalarType type) {
    return type == ScalarType::kFloat64 ? TinyKernels<double, 32, true>::kKernel
                                        : TinyKernels<float, 32, true>::kKernel;
}

}  // namespace weft
