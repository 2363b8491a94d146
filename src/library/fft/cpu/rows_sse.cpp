// The transforms of kinds.h for x86-64-v2.
#define WEFT_VECTORS transforms_sse
#include "library/fft/cpu/kinds.h"

namespace weft {

void transform_rows_sse(const AxisTransform& transform, bool in_parallel) {
    transforms_sse::transform_rows(transform, in_parallel);
}

}  // namespace weft
