// Failed calls of cuBLAS and cuBLASLt: their texts, their exceptions, and a second try with more free memory.
#pragma once

#include <string>

#include "device/cuda/cuda_device.h"

namespace weft {

constexpr int kCublasAllocationFailed = 3;

std::string cublas_status_text(int status);  // "CUBLAS_STATUS_EXECUTION_FAILED (13)"

// Throws DeviceError, or OutOfMemoryError, that says what the library could not do, and what can be done.
[[noreturn]] void throw_cublas_error(const std::string& library, int status, const std::string& what);

// Calls once more where the library lacked memory, after the pool has given its own back.
template <class Call>
int retry_after_reclaim(cuda::CudaDevice& device, const Call& call) {
    const int status = call();
    return status == kCublasAllocationFailed && device.context().reclaim() ? call() : status;
}

}  // namespace weft
