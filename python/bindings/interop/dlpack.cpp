// DLPack as Python objects speak it: a capsule around a managed tensor, made by x.__dlpack__() and taken by
// weft.from_dlpack() (python/weft/_protocols/sharing.py). Whoever takes the tensor renames the capsule; one
// that nobody took gives the tensor back.
#include "api/interop/dlpack.h"

#include <memory>

#include "api/recording/transfer.h"
#include "convert/convert.h"
#include "graph/placement.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kUnversioned = "dltensor";
constexpr const char* kVersionedTaken = "used_dltensor_versioned";
constexpr const char* kUnversionedTaken = "used_dltensor";

template <class Managed>
Managed* tensor_in(PyObject* capsule, const char* name) {
    return static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
}

/// A destructor of an object must not touch the error that may be on its way.
template <class Managed>
void release_untaken(PyObject* capsule, const char* name) {
    if (PyCapsule_IsValid(capsule, name) == 0) return;  // taken
    auto* managed = tensor_in<Managed>(capsule, name);
    if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class Managed>
nb::object make_capsule(Managed* managed, const char* name, PyCapsule_Destructor destructor) {
    PyObject* capsule = PyCapsule_New(managed, name, destructor);
    if (capsule == nullptr) {
        managed->deleter(managed);
        throw_python_error();
    }
    return nb::steal(capsule);
}

/// None gives nothing.
std::optional<dlpack::Device> to_dl_device(nb::handle object) {
    if (object.is_none()) return std::nullopt;
    const Dims pair = to_dims(object);
    if (pair.size() != 2) throw ValueError("dl_device must be a pair of a device's type and number");
    for (const int64_t part : pair) {
        if (part < INT32_MIN || part > INT32_MAX)
            throw BufferError("DLPack has no device (" + std::to_string(pair[0]) + ", " +
                              std::to_string(pair[1]) + ")");
    }
    return dlpack::Device{static_cast<int32_t>(pair[0]), static_cast<int32_t>(pair[1])};
}

/// Whether the consumer understands version 1.
bool takes_version(nb::handle max_version) {
    if (max_version.is_none()) return false;
    const Dims version = to_dims(max_version);
    if (version.size() != 2) throw ValueError("max_version must be a pair of numbers");
    return version[0] >= 1;
}

/// None means CUDA's default stream, -1 that the consumer takes care of the order.
std::optional<uint64_t> to_stream(nb::handle stream, const DeviceBackend& device) {
    if (stream.is_none()) return kDefaultStream;
    const int64_t number = to_index(stream);
    if (number == -1) return std::nullopt;
    if (device.is_cpu()) throw ValueError("an array on the CPU has no streams: stream must be None");
    if (number == 0)
        throw ValueError("stream 0 is ambiguous: it must be 1 (the default stream), 2 or a handle");
    if (number < 0) throw ValueError("stream must be None, -1, 1, 2 or a stream's handle");
    return static_cast<uint64_t>(number);
}

nb::object dlpack_method(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                         nb::handle copy_object) {
    array value = array_of(self);
    std::optional<bool> copy_flag;
    if (!copy_object.is_none()) {
        const int truth = PyObject_IsTrue(copy_object.ptr());
        if (truth < 0) throw_python_error();
        copy_flag = truth != 0;
    }
    const std::optional<dlpack::Device> wanted = to_dl_device(dl_device);
    DeviceBackend& device = device_of(value);
    DeviceBackend& target = wanted ? dlpack::backend_of(*wanted) : device;
    const bool moves = &target != &device;
    if (moves && copy_flag == false)
        throw BufferError("the array is on " + device.name() + ": it cannot be had on " + target.name() +
                          " without a copy");
    dlpack::ExportOptions options;
    options.is_copy = moves || copy_flag == true;
    // Bytes that are on the host when the call returns have no order with anybody's stream.
    options.stream = moves && target.is_cpu() ? kDefaultStream : to_stream(stream, target);
    const bool versioned = takes_version(max_version);
    dlpack::VersionedTensor* tensor = nullptr;
    dlpack::ManagedTensor* unversioned = nullptr;
    {
        const GilRelease release;
        if (moves) {
            value = move_to(value, target);
        } else if (options.is_copy) {
            value = copy(value, 'K');
        }
        if (versioned) {
            tensor = dlpack::export_versioned(value, options);
        } else {
            unversioned = dlpack::export_unversioned(value, options);
        }
    }
    if (versioned) {
        return make_capsule(tensor, kVersioned, [](PyObject* capsule) {
            release_untaken<dlpack::VersionedTensor>(capsule, kVersioned);
        });
    }
    return make_capsule(unversioned, kUnversioned, [](PyObject* capsule) {
        release_untaken<dlpack::ManagedTensor>(capsule, kUnversioned);
    });
}

/// Calls the deleter when the last array over the memory is gone, on whichever thread that is. Some
/// producers' deleters need the GIL and do not take it.
template <class Managed>
std::shared_ptr<void> own(Managed* managed) {
    return {managed, [](Managed* given) {
                if (given->deleter == nullptr || !may_take_gil()) return;
                const GilAcquire acquire;
                given->deleter(given);
            }};
}

template <class Managed>
nb::object take(PyObject* capsule, Managed* managed, bool writeable, const char* taken) {
    const dlpack::Import import(managed->tensor);
    if (PyCapsule_SetName(capsule, taken) != 0) throw_python_error();
    return wrap(import.over(writeable, own(managed)));
}

/// The array that a capsule holds, and whether it is a copy that the producer made.
nb::object import_capsule(nb::handle object) {
    PyObject* capsule = object.ptr();
    if (PyCapsule_IsValid(capsule, kVersioned) != 0) {
        auto* managed = tensor_in<dlpack::VersionedTensor>(capsule, kVersioned);
        if (managed->version.major != dlpack::kVersion.major)
            throw BufferError("the tensor is of DLPack's version " + std::to_string(managed->version.major) +
                              ", weft knows 1");
        const uint64_t flags = managed->flags;
        return nb::make_tuple(take(capsule, managed, (flags & dlpack::kReadOnly) == 0, kVersionedTaken),
                              (flags & dlpack::kIsCopied) != 0);
    }
    if (PyCapsule_IsValid(capsule, kUnversioned) != 0) {
        auto* managed = tensor_in<dlpack::ManagedTensor>(capsule, kUnversioned);
        // It cannot tell whether it may be written: JAX's must not. NumPy takes it so, too.
        return nb::make_tuple(take(capsule, managed, false, kUnversionedTaken), false);
    }
    if (PyCapsule_CheckExact(capsule))
        throw BufferError("the capsule holds no tensor of DLPack's, or one that was taken before");
    throw TypeError("__dlpack__() returned no capsule");
}

}  // namespace

void bind_dlpack(nb::module_& m) {
    PyTypeObject* type = registry.ndarray;
    const auto none = nb::none();
    method(type, "__dlpack__", dlpack_method, nb::kw_only(), arg("stream") = none, arg("max_version") = none,
           arg("dl_device") = none, arg("copy") = none,
           "The array's memory as a DLPack capsule, for from_dlpack() of any library.\n\n"
           "stream: on a GPU, where the consumer goes on: None or 1 (CUDA's default stream), 2 (the "
           "thread's), a "
           "handle, or -1 (no order). max_version: (1, 0) or later gives a versioned tensor, which may be "
           "read-only. dl_device: another device than the array's own gives a copy there. copy: True always "
           "copies, False never. Raises BufferError where that cannot be.");
    method(
        type, "__dlpack_device__",
        [](nb::handle self) {
            const dlpack::Device device = dlpack::place_of(array_of(self));
            return nb::make_tuple(device.type, device.id);
        },
        "The device as DLPack names it: (1, 0) is the CPU, (2, n) the GPU cuda:n.");
    m.def("_from_capsule", import_capsule, arg("capsule"));
    // What a producer has to know before: weft's stream on a device of DLPack's, None where there is none.
    m.def(
        "_stream_of",
        [](nb::handle pair) -> nb::object {
            const std::optional<dlpack::Device> device = to_dl_device(pair);
            if (!device) throw TypeError("a pair of a device's type and number is needed");
            const uint64_t stream = dlpack::backend_of(*device).stream();
            return stream == 0 ? nb::none() : nb::object(nb::int_(stream));
        },
        arg("dl_device"));
}

}  // namespace weft::python
