// Runs groups whose device is a GPU. They run as kernels there or, where a GPU cannot do them yet, on the
// CPU: operands are copied there and results back. Such a fallback says its reason (WEFT_DEBUG=1) and is in
// the kernel history.
#pragma once

#include "execution/run_group.h"

namespace weft {

void run_on_gpu(Group& group, bool fuse);

}  // namespace weft
