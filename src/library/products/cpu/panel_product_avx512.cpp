// The kernels of panel_kernels.h and narrow_kernels.h for avx512.
#include "library/products/cpu/panel_product.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,prfchw"))), \
                             apply_to = function)
#include "library/products/cpu/narrow_kernels.h"
#include "library/products/cpu/panel_kernels.h"
#pragma clang attribute pop

namespace weft {

const PanelKernels* panel_kernels_avx512(ScalarType type) { return choose_panel_kernels<64, 14>(type); }

const NarrowKernels* narrow_kernels_avx512(ScalarType type) { return choose_narrow_kernels<64>(type); }

}  // namespace weft
