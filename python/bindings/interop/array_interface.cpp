// The CPU's memory by addresses and bytes: NumPy's array interface, version 3
// (https://numpy.org/doc/stable/reference/arrays.interface.html), and arrays over the bytes of a buffer
// (`frombuffer`, `ndarray(buffer=)`). As with the CUDA array interface, a consumer keeps the object that it
// asked, so that the memory is exported until that is gone.
#include <memory>
#include <vector>

#include "api/recording/memory_pin.h"
#include "convert/convert.h"
#include "convert/foreign_buffer.h"
#include "core/shape.h"
#include "graph/foreign_memory.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

/// The bytes of an object with the buffer protocol, to be written too where it allows that.
std::shared_ptr<const HeldBuffer> buffer_of(PyObject* object) {
    try {
        return HeldBuffer::of(object, PyBUF_WRITABLE | PyBUF_SIMPLE);
    } catch (const nb::python_error&) {
        return HeldBuffer::of(object, PyBUF_SIMPLE);
    }
}

/// Bytes as a flat array of uint8 over them.
array bytes_of(PyObject* object) {
    if (is_array(object) && device_of(array_of(object)).is_cpu()) {
        const array& value = array_of(object);
        if (!value.c_contiguous()) throw ValueError("ndarray is not C-contiguous");
        return value.with_view(ScalarType::kUInt8, {value.nbytes()}, {1}, value.offset());
    }
    const std::shared_ptr<const HeldBuffer> buffer = buffer_of(object);
    return share_buffer(buffer, ScalarType::kUInt8, {buffer->view().len}, {1});
}

nb::object frombuffer(nb::handle buffer, nb::handle dtype, nb::handle count, nb::handle offset, nb::handle) {
    if (buffer.is_none()) throw TypeError("a bytes-like object is required, not 'NoneType'");
    const DType element = to_dtype_required(dtype);
    const int64_t start = to_index(offset);
    int64_t wanted = to_index(count);
    const array bytes = bytes_of(buffer.ptr());
    const int64_t length = bytes.size();
    if (start < 0 || start > length)
        throw ValueError("offset must be non-negative and no greater than buffer length (" +
                         std::to_string(length) + ")");
    const int64_t available = length - start;
    if (wanted < 0) {
        if (available % element.itemsize() != 0)
            throw ValueError("buffer size must be a multiple of element size");
        wanted = available / element.itemsize();
    } else if (wanted > available / element.itemsize()) {
        throw ValueError("buffer is smaller than requested size");
    }
    return wrap_as(registry.ndarray,
                   bytes.with_view(element, {wanted}, {element.itemsize()}, bytes.offset() + start), Py_None,
                   buffer.ptr());
}

}  // namespace

void check_strides(const Dims& shape, const Dims& strides, int64_t itemsize, int64_t bytes, int64_t offset) {
    checked_bytes(shape, itemsize);
    const bool fits = is_addressable(shape, strides, itemsize);
    const ByteRange range = fits ? byte_range(shape, strides, 0, itemsize) : ByteRange{};
    if (!fits || offset < 0 || offset > bytes ||
        (!range.empty() && (range.low < -offset || range.high > bytes - offset)))
        throw ValueError("strides is incompatible with shape of requested array and size of buffer");
}

/// The bytes of an array, which no buffer protocol lends where they are on a GPU.
array bytes_in(const array& value) {
    if (!value.c_contiguous()) throw ValueError("ndarray is not C-contiguous");
    return value.with_view(DType(ScalarType::kUInt8), Dims{value.size() * value.itemsize()}, Dims{1},
                           value.offset());
}

nb::object wrap_buffer(PyTypeObject* type, nb::handle buffer, DType dtype, const Dims& shape,
                       const std::optional<Dims>& strides, int64_t offset, char order) {
    const int64_t needed = checked_bytes(shape, dtype.itemsize());
    const bool is_on_gpu = is_array(buffer.ptr()) && !device_of(array_of(buffer.ptr())).is_cpu();
    const array bytes = is_on_gpu ? bytes_in(array_of(buffer.ptr())) : bytes_of(buffer.ptr());
    if (strides) {
        check_strides(shape, *strides, dtype.itemsize(), bytes.size(), offset);
    } else if (offset < 0 || offset > bytes.size() || bytes.size() - offset < needed) {
        throw TypeError("buffer is too small for requested array");
    }
    Dims steps = strides ? *strides : reshaped_strides(shape, dtype.itemsize(), order == 'F');
    return wrap_as(type, bytes.with_view(dtype, shape, std::move(steps), bytes.offset() + offset), Py_None,
                   buffer.ptr());
}

namespace {

/// Throws AttributeError for elements that NumPy could not read there.
void check_readable(const array& value, const std::string& protocol) {
    if (!device_of(value).is_cpu())
        throw AttributeError("an array on " + device_of(value).name() + " has no " + protocol);
    if (value.dtype().scalar_type() == ScalarType::kBFloat16)
        throw AttributeError(protocol + " has no bfloat16");
}

/// What __array_struct__ points to, as NumPy lays it out.
struct ArrayStruct {
    int two = 2;
    int nd;
    char typekind;
    int itemsize;
    int flags;
    Py_intptr_t* shape;
    Py_intptr_t* strides;
    void* data;
    PyObject* descr = nullptr;
};

struct OwnedArrayStruct {
    ArrayStruct shown;  // first: the capsule's pointer is to it
    std::vector<Py_intptr_t> shape, strides;
    nb::object owner;
};

int flags_of(const array& value) {
    constexpr int kCContiguous = 0x1, kFContiguous = 0x2, kAligned = 0x100, kNotSwapped = 0x200,
                  kWriteable = 0x400;
    return (value.c_contiguous() ? kCContiguous : 0) | (value.f_contiguous() ? kFContiguous : 0) | kAligned |
           kNotSwapped | (value.writeable() ? kWriteable : 0);
}

}  // namespace

PyObject* get_array_struct(PyObject* self, void*) {
    return guarded([&] {
        const array& value = array_of(self);
        check_readable(value, "__array_struct__");
        auto owned = std::make_unique<OwnedArrayStruct>();
        owned->shape.assign(value.shape().begin(), value.shape().end());
        owned->strides.assign(value.strides().begin(), value.strides().end());
        owned->owner = nb::borrow(self);
        owned->shown.nd = value.ndim();
        owned->shown.typekind = value.dtype().str()[1];
        owned->shown.itemsize = static_cast<int>(value.itemsize());
        owned->shown.flags = flags_of(value);
        owned->shown.shape = owned->shape.data();
        owned->shown.strides = owned->strides.data();
        owned->shown.data = reinterpret_cast<void*>(exported_memory(self).address());
        nb::object capsule = steal_or_throw(PyCapsule_New(owned.get(), nullptr, [](PyObject* object) {
            delete static_cast<OwnedArrayStruct*>(PyCapsule_GetPointer(object, nullptr));
        }));
        static_cast<void>(owned.release());  // the capsule's now
        return capsule.release().ptr();
    });
}

PyObject* get_array_interface(PyObject* self, void*) {
    return guarded([&] {
        const array& value = array_of(self);
        check_readable(value, "__array_interface__");
        const MemoryPin& exported = exported_memory(self);
        const nb::object typestr = nb::str(value.dtype().str().data(), value.dtype().str().size());
        nb::list fields;
        fields.append(nb::make_tuple("", typestr));
        nb::dict interface;
        interface["data"] = nb::make_tuple(exported.address(), !value.writeable());
        interface["strides"] = value.c_contiguous() ? nb::none() : nb::object(to_tuple(value.strides()));
        interface["descr"] = fields;
        interface["typestr"] = typestr;
        interface["shape"] = to_tuple(value.shape());
        interface["version"] = 3;
        return interface.release().ptr();
    });
}

void bind_array_interface(nb::module_& m) {
    m.def("frombuffer", frombuffer, arg("buffer"), arg("dtype") = nb::none(), arg("count") = -1,
          arg("offset") = 0, nb::kw_only(), arg("like") = nb::none(),
          "An array of one axis over the bytes of an object with the buffer protocol, from `offset` on. The "
          "memory is shared; the array is read-only where the object is.\n\n"
          "Raises ValueError where the bytes are no whole number of elements, or fewer than `count`.\n\n"
          ">>> np.frombuffer(b'\\x01\\x02', dtype=np.uint8)\narray([1, 2], dtype=uint8)");
    m.def(
        "_view_like",
        [](nb::handle of, nb::handle like) {
            const array& value = array_of(of);
            return wrap_as(Py_TYPE(like.ptr()), view(value, value.dtype()), like.ptr(), of.ptr());
        },
        arg("array"), arg("like"));
    m.def(
        "_adopt",
        [](nb::handle self, nb::handle other) {
            become(self, array_of(other));
            Py_XDECREF(std::exchange(reinterpret_cast<ArrayObject*>(self.ptr())->base, nullptr));
        },
        arg("array"), arg("other"));
    m.def(
        "_share_memory",
        [](uint64_t address, nb::handle dtype, nb::handle shape, nb::handle strides, bool writeable,
           nb::handle owner) {
            const DType element = to_dtype_required(dtype);
            const Dims dims = to_dims(shape);
            checked_bytes(dims, element.itemsize());
            const Dims steps = strides.is_none() ? c_strides(dims, element.itemsize()) : to_dims(strides);
            if (steps.size() != dims.size()) throw ValueError("mismatch in length of strides and shape");
            check_memory("__array_interface__", address, dims, steps, element.itemsize());
            Py_INCREF(owner.ptr());
            std::shared_ptr<void> keeper(owner.ptr(), [](PyObject* kept) {
                if (!may_take_gil()) return;
                const GilAcquire acquire;
                Py_DECREF(kept);
            });
            return wrap_as(registry.ndarray,
                           array_over(cpu_device(), address, element, dims, steps, writeable, keeper),
                           Py_None, owner.ptr());
        },
        arg("address"), arg("dtype"), arg("shape"), arg("strides"), arg("writeable"), arg("owner"));
}

}  // namespace weft::python
