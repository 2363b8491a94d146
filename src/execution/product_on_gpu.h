// Products of float32 by the programs for matrix units (library/products/cuda/product_program.cpp and
// warpgroup_product_program.cpp): on Hopper's GPUs where its tiles keep the GPU busy, else where the result
// has one round of tiles, since cuBLAS's are larger and leave much of the GPU idle.
#pragma once

#include "device/device.h"
#include "library/products/contraction.h"

namespace weft {

// Queues the product on the device, a GPU, and fills the report; false, with nothing done, where it is not
// such a product. The pointers are addresses there.
bool multiply_in_parts(const Contraction& contraction, DeviceBackend& device, ContractionReport& report);

}  // namespace weft
