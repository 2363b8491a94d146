#include "library/products/cuda/cublas_handle.h"

#include <map>
#include <mutex>

#include "library/products/cuda/cublas_status.h"

namespace weft {

namespace {

// One for each device.
struct Handles {
    std::mutex mutex;
    std::map<const DeviceBackend*, void*> handles;
};

}  // namespace

void* cublas_handle_of(cuda::CudaDevice& device, const cuda::Libraries& functions, std::string& why) {
    static auto* all = new Handles;
    const std::lock_guard lock(all->mutex);
    void*& handle = all->handles[&device];
    if (handle != nullptr) return handle;
    void* made = nullptr;
    int status = retry_after_reclaim(device, [&] { return functions.cublasCreate_v2(&made); });
    if (status == 0) {
        status = functions.cublasSetStream_v2(made, device.context().stream());
        if (status == 0) return handle = made;
        (void)functions.cublasDestroy_v2(made);
    }
    why = "cuBLAS does not start (" + cublas_status_text(status) + ")";
    return nullptr;
}

}  // namespace weft
