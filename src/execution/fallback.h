// Work that a GPU does not do yet and that is done on the CPU at the call, or that NumPy does: written into
// the history of kernels.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace weft {

void record_fallback(DeviceBackend& device, const char* what, int64_t bytes);

}  // namespace weft
