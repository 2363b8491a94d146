// Arrays as DLPack's tensors and back, without copies. The structures are DLPack's binary interface, version
// 1, and what it was before there were versions (https://dmlc.github.io/dlpack/latest/c_api.html). The
// protocol that Python objects speak is in python/bindings/interop/dlpack.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device/device.h"
#include "weft/array.h"

namespace weft::dlpack {

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Device {
    int32_t type, id;
    friend bool operator==(const Device&, const Device&) = default;
};

struct DataType {
    uint8_t code, bits;
    uint16_t lanes;
};

struct Tensor {
    void* data;
    Device device;
    int32_t ndim;
    DataType dtype;
    int64_t* shape;
    int64_t* strides;  // in elements; null: C order
    uint64_t byte_offset;
};

struct ManagedTensor {
    Tensor tensor;
    void* manager;
    void (*deleter)(ManagedTensor*);
};

struct Version {
    uint32_t major, minor;
};
constexpr Version kVersion{1, 0};
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

struct VersionedTensor {
    Version version;
    void* manager;
    void (*deleter)(VersionedTensor*);
    uint64_t flags;
    Tensor tensor;
};

Device place_of(const array& input);
// Where weft can share memory; throws BufferError for other devices, DeviceError for a GPU that is not there.
DeviceBackend& backend_of(Device device);

struct ExportOptions {
    // On whose queue the consumer goes on: CUDA's default stream (1), the thread's (2) or a handle. Nothing:
    // it takes care of the order itself. Of no meaning on the CPU.
    std::optional<uint64_t> stream = kDefaultStream;
    bool is_copy = false;  // the array was made for the consumer
};

// Shows the array's memory until the consumer calls the deleter, once, from any thread. Throws BufferError
// for what DLPack cannot tell: strides that are no multiples of the element, and read-only arrays without a
// version.
VersionedTensor* export_versioned(const array& input, const ExportOptions& options);
ManagedTensor* export_unversioned(const array& input, const ExportOptions& options);

// A tensor as it was when it was read, once: its maker may change it. Throws BufferError for what weft has no
// arrays of, and for what cannot be memory.
class Import {
public:
    explicit Import(const Tensor& tensor);

    // The tensor's memory as an array that keeps `owner` alive.
    array over(bool writeable, std::shared_ptr<void> owner) const;

private:
    DType dtype_;
    Dims shape_, strides_;  // in bytes
    uint64_t first_element_ = 0;
    DeviceBackend* device_ = nullptr;
};

}  // namespace weft::dlpack
