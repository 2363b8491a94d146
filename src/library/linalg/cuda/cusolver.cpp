#include "library/linalg/cuda/cusolver.h"

#include <algorithm>
#include <map>

#include "library/linalg/cuda/factorizations.h"
#include "library/products/cuda/cublas_handle.h"
#include "library/products/cuda/cublas_status.h"
#include "weft/errors.h"

namespace weft::cusolver {

namespace {

using cuda::CudaDevice;
using cuda::Libraries;

constexpr int kAllocationFailed = 2;

struct Handle {
    void *handle = nullptr, *parameters = nullptr;
};

// One for each device, made at first need and kept; the lock is held while one is used.
struct State {
    std::mutex mutex;
    std::map<const CudaDevice*, Handle> handles;
};

State& state() {
    static auto* instance = new State;
    return *instance;
}

std::string status_text(int status) {
    const char* name = "an unknown status";
    switch (status) {
        case 1: name = "CUSOLVER_STATUS_NOT_INITIALIZED"; break;
        case kAllocationFailed: name = "CUSOLVER_STATUS_ALLOC_FAILED"; break;
        case 3: name = "CUSOLVER_STATUS_INVALID_VALUE"; break;
        case 4: name = "CUSOLVER_STATUS_ARCH_MISMATCH"; break;
        case 5: name = "CUSOLVER_STATUS_MAPPING_ERROR"; break;
        case 6: name = "CUSOLVER_STATUS_EXECUTION_FAILED"; break;
        case 7: name = "CUSOLVER_STATUS_INTERNAL_ERROR"; break;
        case 9: name = "CUSOLVER_STATUS_NOT_SUPPORTED"; break;
        default: break;
    }
    return std::string(name) + " (" + std::to_string(status) + ")";
}

void check_start(int status) {
    if (status == 0) return;
    const std::string text = "cuSOLVER does not start (" + status_text(status) + ")";
    if (status == kAllocationFailed) throw OutOfMemoryError(text + ": let go of arrays, and try again");
    throw DeviceError(text);
}

Handle& start(State& all, CudaDevice& device, const Libraries& functions) {
    Handle& found = all.handles[&device];
    if (found.handle != nullptr) return found;
    Handle made;
    const auto make = [&] { return functions.cusolverDnCreate(&made.handle); };
    int status = make();
    if (status == kAllocationFailed && device.context().reclaim()) status = make();
    check_start(status);
    status = functions.cusolverDnSetStream(made.handle, device.context().stream());
    if (status == 0) status = functions.cusolverDnCreateParams(&made.parameters);
    if (status != 0) (void)functions.cusolverDnDestroy(made.handle);
    check_start(status);
    return found = made;
}

}  // namespace

bool is_there(DeviceBackend& device, std::string& why) {
    try {
        const Session session(device);
        return true;
    } catch (const DeviceError& error) {
        if (device.is_lost()) throw;
        why = error.what();
        return false;
    }
}

Session::Session(DeviceBackend& device)
    : device_(static_cast<CudaDevice&>(device)),
      solver_(cuda::library(cuda::LibraryId::kCusolver)),
      blas_(cuda::library(cuda::LibraryId::kCublas)),
      scope_(device_.context()),
      lock_(state().mutex) {
    const Handle& found = start(state(), device_, solver_);
    handle_ = found.handle;
    parameters_ = found.parameters;
    std::string why;
    blas_handle_ = cublas_handle_of(device_, blas_, why);
    if (blas_handle_ == nullptr) throw DeviceError(why + ". Nothing is lost: try again");
}

uint64_t Session::room(size_t bytes) {
    held_.push_back(device_.allocate(std::max<size_t>(bytes, 1)));
    return held_.back()->address();
}

Session::Room Session::take(size_t on_device, size_t on_host) {
    return {pointer(room(on_device)), on_device, HostRoom(on_host)};
}

void Session::check(int status, const char* what) {
    if (status == 0) return;
    const std::string text = std::string("cuSOLVER could not ") + what + ": " + status_text(status);
    if (status == kAllocationFailed)
        throw OutOfMemoryError(text +
                               ". Nothing is lost: let go of arrays, call weft.empty_pool(), or end other "
                               "programs on the device, and try again");
    device_.synchronize();  // says so where a fault is to blame
    throw DeviceError(text + ". Nothing is lost: try again, and please report it if it stays so");
}

void Session::check_blas(int status, const char* what) {
    if (status == 0) return;
    if (status != kCublasAllocationFailed) device_.synchronize();
    throw_cublas_error("cuBLAS", status, what);
}

}  // namespace weft::cusolver
