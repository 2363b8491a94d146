#include "api/interop/dlpack.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "api/recording/memory_pin.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/foreign_memory.h"
#include "graph/placement.h"
#include "weft/errors.h"

namespace weft::dlpack {

namespace {

DataType type_of(DType dtype) {
    uint8_t code = kFloat;
    switch (dtype.kind()) {
        case 'b': code = kBool; break;
        case 'i': code = kInt; break;
        case 'u': code = kUInt; break;
        case 'c': code = kComplex; break;
        default: break;
    }
    if (dtype == ScalarType::kBFloat16) code = kBfloat;
    return {code, static_cast<uint8_t>(8 * dtype.itemsize()), 1};
}

std::optional<DType> find_dtype(DataType type) {
    if (type.lanes != 1) return std::nullopt;
    for (const DTypeInfo& info : DType::all()) {
        const DataType own = type_of(DType(info.scalar_type));
        if (own.code == type.code && own.bits == type.bits) return DType(info.scalar_type);
    }
    return std::nullopt;
}

DType dtype_of(DataType type) {
    if (const std::optional<DType> found = find_dtype(type)) return *found;
    throw BufferError("weft has no arrays of DLPack's type with code " + std::to_string(type.code) + ", " +
                      std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) + " lanes");
}

// What the consumer holds, and what its tensor points into.
template <class Managed>
struct Exported {
    Managed managed{};
    MemoryPin pin;
    Dims shape, strides;
};

template <class Managed>
void release(Managed* managed) {
    delete static_cast<Exported<Managed>*>(managed->manager);
}

template <class Managed>
Managed* export_tensor(const array& input, const ExportOptions& options) {
    auto exported = std::make_unique<Exported<Managed>>();
    exported->shape = input.shape();
    for (size_t d = 0; d < input.shape().size(); ++d) {
        // The stride of an axis that is never walked is nobody's business.
        const int64_t stride = input.shape()[d] > 1 ? input.strides()[d] : input.itemsize();
        if (stride % input.itemsize() != 0)
            throw BufferError("DLPack cannot tell of strides that are no multiples of the element's size");
        exported->strides.push_back(stride / input.itemsize());
    }
    exported->pin = MemoryPin(input);
    MemoryPin& pin = exported->pin;
    if (!pin.device().is_cpu()) {
        if (options.stream) {
            pin.order_stream(*options.stream);
        } else {
            pin.order_unknown_stream();
        }
    }
    Tensor& tensor = exported->managed.tensor;
    tensor.data = input.size() == 0 ? nullptr : reinterpret_cast<void*>(pin.address());
    tensor.device = place_of(input);
    tensor.ndim = input.ndim();
    tensor.dtype = type_of(input.dtype());
    tensor.shape = exported->shape.data();
    tensor.strides = exported->strides.data();
    exported->managed.manager = exported.get();
    exported->managed.deleter = release<Managed>;
    return &exported.release()->managed;
}

}  // namespace

Device place_of(const array& input) {
    const DeviceBackend& device = device_of(input);
    return {device.is_cpu() ? kCpu : kCuda, device.ordinal()};
}

DeviceBackend& backend_of(Device device) {
    switch (device.type) {
        case kCpu:
        case kCudaHost: return cpu_device();
        case kCuda:
        case kCudaManaged: return device_named("cuda:" + std::to_string(device.id));
        default:
            throw BufferError("weft cannot share memory of DLPack's device type " +
                              std::to_string(device.type));
    }
}

VersionedTensor* export_versioned(const array& input, const ExportOptions& options) {
    VersionedTensor* managed = export_tensor<VersionedTensor>(input, options);
    managed->version = kVersion;
    managed->flags = (input.writeable() ? 0 : kReadOnly) | (options.is_copy ? kIsCopied : 0);
    return managed;
}

ManagedTensor* export_unversioned(const array& input, const ExportOptions& options) {
    if (!input.writeable())
        throw BufferError(
            "a read-only array can be shared by DLPack from version 1 on only: the consumer asks for an "
            "older "
            "one");
    return export_tensor<ManagedTensor>(input, options);
}

Import::Import(const Tensor& tensor) : dtype_(dtype_of(tensor.dtype)) {
    if (tensor.ndim < 0 || tensor.ndim > kMaxDimensions)
        throw BufferError("the tensor has " + std::to_string(tensor.ndim) + " dimensions");
    const auto rank = static_cast<size_t>(tensor.ndim);
    if (rank != 0 && tensor.shape == nullptr) throw BufferError("the tensor has dimensions, but no shape");
    shape_ = Dims(std::span<const int64_t>(tensor.shape, rank));
    if (tensor.strides != nullptr) {
        strides_ = Dims(std::span<const int64_t>(tensor.strides, rank));
        bool fits = true;
        for (int64_t& stride : strides_) fits &= !__builtin_mul_overflow(stride, dtype_.itemsize(), &stride);
        if (!fits) throw BufferError("the tensor has strides that reach further than memory does");
    }
    const auto data = reinterpret_cast<uint64_t>(tensor.data);
    if (__builtin_add_overflow(data, tensor.byte_offset, &first_element_))
        throw BufferError("the tensor has a byte_offset that reaches further than memory does");
    const std::string fault =
        fault_of_memory(data == 0 ? 0 : first_element_, shape_, strides_, dtype_.itemsize());
    if (!fault.empty()) throw BufferError("the tensor " + fault);
    if (tensor.strides == nullptr) strides_ = c_strides(shape_, dtype_.itemsize());
    device_ = &backend_of(tensor.device);
}

array Import::over(bool writeable, std::shared_ptr<void> owner) const {
    return array_over(*device_, first_element_, dtype_, shape_, strides_, writeable, std::move(owner));
}

}  // namespace weft::dlpack
