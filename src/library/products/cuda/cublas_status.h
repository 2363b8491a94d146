// What cuBLAS and cuBLASLt say of a call that failed.
#pragma once

#include <string>

#include "device/cuda/cuda_device.h"

namespace weft {

constexpr int kCublasAllocationFailed = 3;

std::string cublas_status_text(int status);  // "CUBLAS_STATUS_EXECUTION_FAILED (13)"

// Throws DeviceError, or OutOfMemoryError, that says what the library could not do, and what can be done.
[[noreturn]] void refuse_cublas(const std::string& library, int status, const std::string& what);

// Tried again, where there is too little memory, without the pool's.
template <class Call>
int with_cublas_memory(cuda::CudaDevice& device, const Call& call) {
    const int status = call();
    return status == kCublasAllocationFailed && device.context().reclaim() ? call() : status;
}

}  // namespace weft
