// Memory exported through Python's buffer protocol: without a copy, pinned until the last consumer
// lets go.
#include <memory>

#include "graph/placement.h"
#include "interop/interop.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

/// Throws BufferError where the protocol has no format for the type; NumPy then asks `__array__`.
const char* buffer_format(DType dtype) {
    switch (dtype.scalar_type()) {
        case ScalarType::kBool: return "?";
        case ScalarType::kInt8: return "b";
        case ScalarType::kUInt8: return "B";
        case ScalarType::kInt16: return "h";
        case ScalarType::kUInt16: return "H";
        case ScalarType::kInt32: return "i";
        case ScalarType::kUInt32: return "I";
        case ScalarType::kInt64: return "l";
        case ScalarType::kUInt64: return "L";
        case ScalarType::kFloat16: return "e";
        case ScalarType::kBFloat16:
            throw BufferError(
                "the buffer protocol has no bfloat16: show .view(weft.uint16), or .astype(weft.float32)");
        case ScalarType::kFloat32: return "f";
        case ScalarType::kFloat64: return "d";
        case ScalarType::kComplex64: return "Zf";
        case ScalarType::kComplex128: return "Zd";
    }
    return "B";
}

/// What a consumer holds: the pin and what Py_buffer points to.
struct Exported {
    HostView view;
    Dims shape, strides;
};

int array_get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
    buffer->obj = nullptr;
    return guarded_number([&]() -> int {
        const array value = array_of(self);
        // As of an object that has no buffers at all: numba and others then ask for __cuda_array_interface__.
        if (const DeviceBackend& device = device_of(value); !device.is_cpu())
            throw TypeError(
                "the array is on " + device.name() +
                ", where its memory cannot be exported to the CPU: copy it with x.to_device('cpu')");
        const bool writeable = value.writeable();
        if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !writeable)
            throw ValueError("buffer source array is read-only");
        if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !value.c_contiguous())
            throw ValueError("ndarray is not C-contiguous");
        if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !value.f_contiguous())
            throw ValueError("ndarray is not Fortran contiguous");
        if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !value.c_contiguous() &&
            !value.f_contiguous())
            throw ValueError("ndarray is not contiguous");
        if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !value.c_contiguous())
            throw ValueError("ndarray is not C-contiguous");

        const char* const format = buffer_format(value.dtype());
        auto exported = std::make_unique<Exported>();
        exported->shape = value.shape();
        exported->strides = value.strides();
        {
            const GilRelease release;
            exported->view = HostView(value, writeable);
        }
        buffer->buf = exported->view.data();
        buffer->len = value.nbytes();
        buffer->itemsize = value.itemsize();
        buffer->readonly = writeable ? 0 : 1;
        // Without a shape NumPy gives no dimension: a memoryview would read the extents of several.
        buffer->ndim = (flags & PyBUF_ND) != 0 ? value.ndim() : 0;
        buffer->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
        static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
        buffer->shape =
            (flags & PyBUF_ND) != 0 ? reinterpret_cast<Py_ssize_t*>(exported->shape.data()) : nullptr;
        buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES
                              ? reinterpret_cast<Py_ssize_t*>(exported->strides.data())
                              : nullptr;
        buffer->suboffsets = nullptr;
        buffer->internal = exported.release();
        Py_INCREF(self);
        buffer->obj = self;
        return 0;
    });
}

void array_release_buffer(PyObject*, Py_buffer* buffer) { delete static_cast<Exported*>(buffer->internal); }

int scalar_get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
    buffer->obj = nullptr;
    return guarded_number([&]() -> int {
        if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) throw BufferError("scalar buffer is readonly");
        const DType dtype = scalar_dtype(self);
        buffer->buf = const_cast<char*>(scalar_bytes(self));
        buffer->len = buffer->itemsize = static_cast<Py_ssize_t>(dtype.itemsize());
        buffer->readonly = 1;
        buffer->ndim = 0;
        buffer->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(buffer_format(dtype)) : nullptr;
        buffer->shape = buffer->strides = buffer->suboffsets = nullptr;
        buffer->internal = nullptr;
        Py_INCREF(self);
        buffer->obj = self;
        return 0;
    });
}

}  // namespace

void add_array_buffer_slots(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(array_get_buffer)});
    slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(array_release_buffer)});
}

void add_scalar_buffer_slots(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(scalar_get_buffer)});
}

}  // namespace weft::python
