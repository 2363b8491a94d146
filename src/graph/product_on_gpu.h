// Products of float32 by the program for matrix units (library/cuda/kernels/product_program.cpp), where the
// result is so small that it has one round of tiles on a GPU: cuBLAS's tiles are larger, and leave much of
// the GPU idle.
#pragma once

#include "device/device.h"
#include "library/contraction.h"

namespace weft {

// Queues the product on the device, a GPU, and fills the report; false, with nothing done, where it is not
// such a product. The pointers are addresses there.
bool multiply_in_parts(const Contraction& contraction, DeviceBackend& device, ContractionReport& report);

}  // namespace weft
