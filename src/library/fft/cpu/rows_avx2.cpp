// The transforms of kinds.h for x86-64-v3.
#define WEFT_VECTORS transforms_avx2
#include "library/fft/cpu/kinds.h"

namespace weft {

void transform_rows_avx2(const AxisTransform& transform, bool in_parallel) {
    transforms_avx2::transform_rows(transform, in_parallel);
}

}  // namespace weft
