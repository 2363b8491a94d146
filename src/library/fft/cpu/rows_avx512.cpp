// The transforms of kinds.h for x86-64-v4.
#define WEFT_VECTORS transforms_avx512
#include "library/fft/cpu/kinds.h"

namespace weft {

void transform_rows_avx512(const AxisTransform& transform, bool in_parallel) {
    transforms_avx512::transform_rows(transform, in_parallel);
}

}  // namespace weft
