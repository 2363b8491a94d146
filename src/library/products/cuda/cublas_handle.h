// cuBLAS's handle of a device, which whatever calls the library shares.
#pragma once

#include <string>

#include "device/cuda/cuda_device.h"
#include "device/cuda/libraries.h"

namespace weft {

// Made at first need and kept; its work is queued on the device's stream. Null where it cannot be had: `why`
// says it. Called within the context's scope.
void* cublas_handle_of(cuda::CudaDevice& device, const cuda::Libraries& functions, std::string& why);

}  // namespace weft
