// cuSOLVER on a device: its handle, its statuses as exceptions, memory to work in from the device's pool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "device/cuda/libraries.h"
#include "device/device.h"
#include "weft/dtype.h"

namespace weft::cusolver {

// cudaDataType
constexpr int data_type(ScalarType type) {
    switch (type) {
        case ScalarType::kFloat32: return 0;
        case ScalarType::kComplex64: return 4;
        case ScalarType::kComplex128: return 5;
        default: return 1;
    }
}
constexpr ScalarType real_type(ScalarType type) {
    return type == ScalarType::kFloat32 || type == ScalarType::kComplex64 ? ScalarType::kFloat32
                                                                          : ScalarType::kFloat64;
}
constexpr int64_t item_size(ScalarType type) {
    return type == ScalarType::kFloat32 ? 4 : type == ScalarType::kComplex128 ? 16 : 8;
}

// One of four functions that differ by their type alone.
template <class Function>
Function by_type(ScalarType type, Function single, Function wide, Function complex, Function wide_complex) {
    switch (type) {
        case ScalarType::kFloat32: return single;
        case ScalarType::kComplex64: return complex;
        case ScalarType::kComplex128: return wide_complex;
        default: return wide;
    }
}

inline void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }
inline int* integers(uint64_t address) { return reinterpret_cast<int*>(address); }

// cublasFillMode_t, cublasOperation_t
constexpr int kLower = 0, kUpper = 1;
constexpr int kPlain = 0, kTransposed = 1;

// Who calls the library has one: the context is the calling thread's, and the handle is its alone.
class Session {
public:
    // Throws DeviceError where there is no library.
    explicit Session(DeviceBackend& device);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const cuda::Libraries& functions() const { return solver_; }
    const cuda::Libraries& blas() const { return blas_; }
    void* handle() const { return handle_; }
    void* parameters() const { return parameters_; }
    void* blas_handle() const { return blas_handle_; }

    // Memory until what is queued then has used it.
    uint64_t room(size_t bytes);

    // A call that queues work. Throws for a status of cuSOLVER's or of cuBLAS's.
    template <class Call>
    void queue(const char* what, const Call& call) {
        const cuda::MemoryPool::Queueing counted(device_.pool());
        check(call(), what);
    }
    template <class Call>
    void queue_blas(const char* what, const Call& call) {
        const cuda::MemoryPool::Queueing counted(device_.pool());
        check_blas(call(), what);
    }

    // Memory of the size that `size` says, on the device and on the host, for any number of calls.
    // Of the host's pool, whose pages are there already: some functions want hundreds of megabytes.
    class HostRoom {
    public:
        explicit HostRoom(size_t bytes)
            : buffer_(cpu_device().allocate(std::max<size_t>(bytes, 1))), bytes_(bytes) {}
        char* data() const { return buffer_->data(); }
        size_t size() const { return bytes_; }

    private:
        BufferPtr buffer_;
        size_t bytes_;
    };
    struct Room {
        void* on_device;
        size_t device_bytes;
        HostRoom on_host;
    };
    template <class Size>
    Room ask(const char* what, const Size& size) {
        size_t on_device = 0, on_host = 0;
        check(size(&on_device, &on_host), what);
        return take(on_device, on_host);
    }
    // The same where the library counts elements.
    template <class Size>
    Room ask_elements(const char* what, int64_t itemsize, int& elements, const Size& size) {
        elements = 0;
        check(size(&elements), what);
        return take(static_cast<size_t>(elements) * static_cast<size_t>(itemsize), 0);
    }

    void check(int status, const char* what);
    void check_blas(int status, const char* what);

private:
    Room take(size_t on_device, size_t on_host);

    cuda::CudaDevice& device_;
    const cuda::Libraries &solver_, &blas_;
    const cuda::Context::Scope scope_;
    std::unique_lock<std::mutex> lock_;
    void *handle_ = nullptr, *parameters_ = nullptr, *blas_handle_ = nullptr;
    std::vector<BufferPtr> held_;
};

}  // namespace weft::cusolver
