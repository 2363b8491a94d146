// The CUDA array interface, version 3
// (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html), both ways: arrays on GPUs say
// where their memory is, and arrays are made over the memory of whoever says so.
//
// Nobody tells when a consumer lets go: it keeps the object alive that it asked. The memory is therefore
// shown from the first question until that ndarray object is gone.
#include <memory>

#include "bindings.h"
#include "device/cuda/cuda_device.h"
#include "graph/placement.h"
#include "graph/shown_memory.h"

namespace weft::python {

namespace {

constexpr int kVersion = 3;

nb::object get_item(const nb::dict& interface, const char* key) {
    PyObject* found = PyDict_GetItemString(interface.ptr(), key);  // borrowed
    return found == nullptr ? nb::none() : nb::borrow(found);
}

nb::object required(const nb::dict& interface, const char* key) {
    nb::object found = get_item(interface, key);
    if (found.is_none()) throw TypeError("__cuda_array_interface__ has no entry '" + std::string(key) + "'");
    return found;
}

DType dtype_of(const std::string& text) {
    const bool swapped = !text.empty() && text[0] == '>' && text.substr(2) != "1";
    const DTypeInfo* info = text.size() < 3 || swapped ? nullptr : DType::find(text.substr(1));
    if (info == nullptr) throw TypeError("weft has no arrays of elements '" + text + "'");
    return DType(info->scalar_type);
}

}  // namespace

nb::object cuda_interface_of(PyObject* object) {
    PyObject* found = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (found != nullptr) return nb::steal(found);
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw_python_error();
    PyErr_Clear();
    return nb::none();
}

array share_cuda_interface(nb::handle object, nb::handle description) {
    if (!PyDict_Check(description.ptr())) throw TypeError("__cuda_array_interface__ must be a dictionary");
    const auto interface = nb::borrow<nb::dict>(description);
    if (!get_item(interface, "mask").is_none())
        throw NotImplementedError("weft has no arrays with masks: __cuda_array_interface__ has one");
    const DType dtype = dtype_of(nb::cast<std::string>(required(interface, "typestr")));
    const Dims shape = to_dims(required(interface, "shape"));
    Dims strides;
    if (const nb::object given = get_item(interface, "strides"); given.is_none()) {
        strides = Dims(shape.size());
        int64_t stride = dtype.itemsize();
        for (size_t d = shape.size(); d-- > 0; stride *= std::max<int64_t>(shape[d], 1)) strides[d] = stride;
    } else {
        strides = to_dims(given);
        if (strides.size() != shape.size())
            throw ValueError("__cuda_array_interface__ has another number of strides than of axes");
    }
    const nb::object data = required(interface, "data");
    const auto address = nb::cast<uint64_t>(data[0]);
    const bool readonly = nb::cast<bool>(data[1]);
    const nb::object stream = get_item(interface, "stream");
    const int64_t number = stream.is_none() ? 0 : to_index(stream);
    if (!stream.is_none() && number <= 0)
        throw ValueError("stream " + std::to_string(number) + " of __cuda_array_interface__ is no stream");
    DeviceBackend& device = cuda::device_of_address(address);
    // Where nothing is said the producer is taken to work on CUDA's default stream.
    device.wait_for_stream(kDefaultStream);
    if (number > 0) device.wait_for_stream(static_cast<uint64_t>(number));
    Py_INCREF(object.ptr());
    std::shared_ptr<void> owner(object.ptr(), [](PyObject* kept) {
        if (Py_IsInitialized() == 0) return;
        const GilAcquire acquire;
        Py_DECREF(kept);
    });
    return array_over(device, address, dtype, shape, strides, !readonly, std::move(owner));
}

PyObject* get_cuda_interface(PyObject* self, void*) {
    return guarded([&] {
        auto* object = reinterpret_cast<ArrayObject*>(self);
        const array& value = object->value;
        if (device_of(value).is_cpu())
            throw AttributeError("an array on the CPU has no __cuda_array_interface__");
        if (object->shown == nullptr) {
            auto pin = std::make_unique<MemoryPin>();
            {
                const GilRelease release;
                *pin = MemoryPin(value);
            }
            if (object->shown == nullptr)
                object->shown = pin.release();  // another thread may have been faster
        }
        object->shown->order_stream(kDefaultStream);
        nb::dict interface;
        interface["shape"] = to_tuple(value.shape());
        interface["typestr"] = nb::str(value.dtype().str().data(), value.dtype().str().size());
        interface["data"] =
            nb::make_tuple(value.size() == 0 ? 0 : object->shown->address(), !value.writeable());
        interface["strides"] = value.c_contiguous() ? nb::none() : nb::object(to_tuple(value.strides()));
        interface["stream"] = static_cast<int64_t>(kDefaultStream);
        interface["version"] = kVersion;
        return interface.release().ptr();
    });
}

}  // namespace weft::python
