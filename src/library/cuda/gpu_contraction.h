// The twin of contract() (library/contraction.h) for GPUs: matrix products by cuBLAS where its strided
// batches can express them, without copies.
#pragma once

#include <string>

#include "device/device.h"
#include "library/contraction.h"

namespace weft {

// Queues the product on the device, a GPU; the pointers are addresses there. Empty, and the report filled;
// or, with nothing done, why it cannot be. Throws DeviceError when cuBLAS fails.
std::string contract_on_gpu(const Contraction& contraction, DeviceBackend& device, ContractionReport& report);

}  // namespace weft
