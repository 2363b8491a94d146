// The CUDA array interface, version 3
// (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html), both ways: arrays on GPUs say
// where their memory is, and arrays are made over the memory of whoever says so.
//
// Nobody tells when a consumer lets go: it keeps the object alive that it asked. The memory is therefore
// exported from the first question until that ndarray object is gone.
#include <memory>

#include "api/recording/memory_pin.h"
#include "convert/convert.h"
#include "core/shape.h"
#include "device/cuda/cuda_device.h"
#include "graph/foreign_memory.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "objects/objects.h"

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

DType dtype_of(const nb::object& typestr) {
    if (!PyUnicode_Check(typestr.ptr()))
        throw TypeError("'typestr' of __cuda_array_interface__ must be a string");
    const auto text = nb::cast<std::string>(typestr);
    const bool known_order =
        text.size() >= 3 && std::string_view("<>|=").find(text[0]) != std::string_view::npos;
    const bool swapped = known_order && text[0] == '>' && text.substr(2) != "1";
    const DTypeInfo* info = known_order && !swapped ? DType::find(text.substr(1)) : nullptr;
    if (info == nullptr) throw TypeError("weft has no arrays of elements '" + text + "'");
    return DType(info->scalar_type);
}

struct Layout {
    Dims shape, strides;
};

// Sound enough to be counted with, whoever wrote it.
Layout layout_of(const nb::dict& interface, uint64_t address, int64_t itemsize) {
    Layout layout{to_dims(required(interface, "shape")), {}};
    const nb::object given = get_item(interface, "strides");
    if (!given.is_none()) layout.strides = to_dims(given);
    if (!given.is_none() && layout.strides.size() != layout.shape.size())
        throw ValueError("__cuda_array_interface__ has another number of strides than of axes");
    check_memory("__cuda_array_interface__", address, layout.shape, layout.strides, itemsize);
    if (given.is_none()) layout.strides = c_strides(layout.shape, itemsize);
    return layout;
}

struct Data {
    uint64_t address;
    bool readonly;
};

Data data_of(const nb::dict& interface) {
    const nb::object data = required(interface, "data");
    if (!PyTuple_Check(data.ptr()) || PyTuple_Size(data.ptr()) != 2 ||
        !PyLong_Check(PyTuple_GetItem(data.ptr(), 0)))
        throw TypeError(
            "'data' of __cuda_array_interface__ must be a tuple of an address and whether it is "
            "read-only");
    const uint64_t address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data.ptr(), 0));
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        throw ValueError("the address of __cuda_array_interface__ is none: " +
                         nb::cast<std::string>(nb::repr(data[0])));
    }
    const int readonly = PyObject_IsTrue(PyTuple_GetItem(data.ptr(), 1));
    if (readonly < 0) throw_python_error();
    return {address, readonly != 0};
}

// The device that has all of the memory. Between its first and its last byte there may be some that is
// nobody's: the driver does not say.
DeviceBackend& device_of_memory(uint64_t address, const Layout& layout, int64_t itemsize) {
    const ByteRange range = byte_range(layout.shape, layout.strides, 0, itemsize);
    if (range.empty()) {
        cuda::CudaDevice* said = address == 0 ? nullptr : cuda::device_of_address(address);
        return said != nullptr ? *said : cuda::cuda_device(0);
    }
    cuda::CudaDevice* first = cuda::device_of_address(address + static_cast<uint64_t>(range.low));
    cuda::CudaDevice* last = cuda::device_of_address(address + static_cast<uint64_t>(range.high) - 1);
    if (first == nullptr || first != last)
        throw ValueError("__cuda_array_interface__ describes bytes that are no GPU's memory");
    return *first;
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
    const DType dtype = dtype_of(required(interface, "typestr"));
    const Data data = data_of(interface);
    const Layout layout = layout_of(interface, data.address, dtype.itemsize());
    const nb::object stream = get_item(interface, "stream");
    const int64_t number = stream.is_none() ? 0 : to_index(stream);
    if (!stream.is_none() && number <= 0)
        throw ValueError("stream " + std::to_string(number) + " of __cuda_array_interface__ is no stream");
    DeviceBackend& device = device_of_memory(data.address, layout, dtype.itemsize());
    // Where nothing is said the producer is taken to work on CUDA's default stream.
    device.wait_for_stream(kDefaultStream);
    if (number > 0) device.wait_for_stream(static_cast<uint64_t>(number));
    Py_INCREF(object.ptr());
    std::shared_ptr<void> owner(object.ptr(), [](PyObject* kept) {
        if (!may_take_gil()) return;
        const GilAcquire acquire;
        Py_DECREF(kept);
    });
    return array_over(device, data.address, dtype, layout.shape, layout.strides, !data.readonly,
                      std::move(owner));
}

PyObject* get_cuda_interface(PyObject* self, void*) {
    return guarded([&] {
        const array& value = array_of(self);
        if (device_of(value).is_cpu())
            throw AttributeError("an array on the CPU has no __cuda_array_interface__");
        MemoryPin& exported = exported_memory(self);
        exported.order_stream(kDefaultStream);
        nb::dict interface;
        interface["shape"] = to_tuple(value.shape());
        interface["typestr"] = nb::str(value.dtype().str().data(), value.dtype().str().size());
        interface["data"] = nb::make_tuple(value.size() == 0 ? 0 : exported.address(), !value.writeable());
        interface["strides"] = value.c_contiguous() ? nb::none() : nb::object(to_tuple(value.strides()));
        interface["stream"] = static_cast<int64_t>(kDefaultStream);
        interface["version"] = kVersion;
        return interface.release().ptr();
    });
}

}  // namespace weft::python
