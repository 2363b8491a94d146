#include "api/recording/gpu_input.h"

#include "graph/operand.h"
#include "weft/ops.h"

namespace weft {

array dense_on_gpu(const array& input) {
    return input.c_contiguous() && !is_exported(input) ? input : copy(input, 'C');
}

}  // namespace weft
