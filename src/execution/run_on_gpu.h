// Groups whose device is a GPU: as kernels there, or, where a GPU cannot do them yet, on the CPU with what
// they read copied there and what they give copied back. Such a fallback says its reason (WEFT_DEBUG=1) and
// is in the kernel history.
#pragma once

#include "execution/run_group.h"

namespace weft {

void run_on_gpu(Group& group, bool fuse);

}  // namespace weft
