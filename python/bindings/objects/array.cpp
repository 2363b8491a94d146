// weft.ndarray: the type, its operators and attributes. Its methods are in array_methods.cpp.
#include <memory>

#include "api/recording/memory_pin.h"
#include "convert/convert.h"
#include "core/shape.h"
#include "engine/numpy_version.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage.h"
#include "interop/interop.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"
#include "protocols/by_numpy.h"

// After Python.h, which it does not include itself.
#include <structmember.h>

namespace weft::python {

namespace {

PyObject*& base_of(PyObject* self) { return reinterpret_cast<ArrayObject*>(self)->base; }

void array_dealloc(PyObject* self) {
    PyObject* base = base_of(self);
    auto* object = reinterpret_cast<ArrayObject*>(self);
    if (object->weak_references != nullptr) [[unlikely]]
        PyObject_ClearWeakRefs(self);
    if (const MemoryPin* exported = object->exported.load(std::memory_order_relaxed)) [[unlikely]]
        delete exported;
    object->value.~array();
    if (is_plain_array(self)) {
        free_object(self);
    } else {
        PyTypeObject* type = Py_TYPE(self);
        reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
        Py_DECREF(type);
    }
    Py_XDECREF(base);
}

nb::object make_object(PyTypeObject* type, array&& value) {
    ArrayObject* object = nullptr;
    if (type == registry.ndarray) {
        object = allocate<ArrayObject>(type);
    } else {
        if (PyType_IsSubtype(type, registry.ndarray) == 0)
            throw TypeError("expected a subclass of weft.ndarray");
        registry.has_subclasses.store(true, std::memory_order_relaxed);
        const auto make = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
        object = reinterpret_cast<ArrayObject*>(make(type, 0));
        if (object == nullptr) throw_python_error();
    }
    new (&object->value) array(std::move(value));
    object->base = nullptr;
    new (&object->exported) std::atomic<MemoryPin*>(nullptr);
    object->weak_references = nullptr;
    return nb::steal(reinterpret_cast<PyObject*>(object));
}

/// Tells an instance of a subclass what it was made of.
void finalize(nb::handle object, PyObject* origin) {
    const nb::object hook =
        nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__array_finalize__");
    if (hook.ptr() == registry.finalize || hook.is_none()) return;
    object.attr("__array_finalize__")(nb::handle(origin));
}

array array_with_strides(const Dims& shape, DType dtype, const Dims& strides) {
    check_strides(shape, strides, dtype.itemsize(), checked_bytes(shape, dtype), 0);
    const array memory = empty(shape, dtype);
    return array(memory.storage(), dtype, shape, strides, 0, true);
}

PyObject* own_array_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
    return guarded([&] {
        static const char* names[] = {"shape", "dtype", "buffer", "offset", "strides", "order", nullptr};
        PyObject *shape = nullptr, *dtype = Py_None, *buffer = Py_None, *offset = nullptr, *strides = Py_None,
                 *order = Py_None;
        if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOOOO:ndarray", const_cast<char**>(names),
                                         &shape, &dtype, &buffer, &offset, &strides, &order))
            throw_python_error();
        const Dims dims = to_dims(shape);
        const DType element = to_dtype(dtype).value_or(DType());
        const char layout = to_order(order, "CF");
        std::optional<Dims> steps;
        if (strides != Py_None) {
            steps = to_dims(strides);
            if (steps->size() != dims.size())
                throw ValueError("strides, if given, must be the same length as shape");
        }
        if (buffer != Py_None) {
            const int64_t start = offset == nullptr ? 0 : to_index(offset);
            return wrap_buffer(type, buffer, element, dims, steps, start, layout).release().ptr();
        }
        array value = steps ? array_with_strides(dims, element, *steps) : empty(dims, element, layout);
        return wrap_as(type, std::move(value), Py_None).release().ptr();
    });
}

PyObject* array_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
    PyObject* const own = own_array_new(type, arguments, keywords);
    if (own != nullptr || type != registry.ndarray || !numpy_may_answer()) return own;
    nb::python_error error;  // takes it
    return guarded([&] {
        std::vector<PyObject*> all;
        for (Py_ssize_t i = 0; i < PyTuple_Size(arguments); ++i) all.push_back(PyTuple_GetItem(arguments, i));
        const size_t positional = all.size();
        nb::list names;
        PyObject *name = nullptr, *value = nullptr;
        Py_ssize_t place = 0;
        while (keywords != nullptr && PyDict_Next(keywords, &place, &name, &value) != 0) {
            names.append(nb::handle(name));
            all.push_back(value);
        }
        error.restore();
        return numpy_instead(FailedCall::kFunction, "ndarray", all.data(), positional,
                             nb::tuple(names).ptr());
    });
}

PyObject* call_format(const char* function, PyObject* self) {
    return guarded([&] {
        return nb::module_::import_(modules::kFormat).attr(function)(nb::handle(self)).release().ptr();
    });
}

PyObject* array_repr(PyObject* self) { return call_format("shown", self); }
PyObject* array_str(PyObject* self) { return call_format("array_str", self); }

PyObject* get_shape(PyObject* self, void*) {
    return guarded([&] { return to_tuple(array_of(self).shape()).release().ptr(); });
}

void give_shape(nb::handle self, nb::handle shape) {
    const Dims dims = to_dims(shape);
    const array value = array_of(self);
    const array reshaped = reshape(value, dims);  // refuses a wrong number of elements
    if (reshaped.storage() != value.storage() || reshaped.storage() != array_of(self).storage())
        throw AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the "
            "desired "
            "shape.");
    array_of(self.ptr()).set_layout(reshaped.shape(), reshaped.strides());
}

int set_shape(PyObject* self, PyObject* shape, void*) {
    return guarded_number([&]() -> int {
        if (shape == nullptr) throw AttributeError("Cannot delete array shape");
        deprecated_in_numpy_2_5(
            "Setting the shape on a NumPy array has been deprecated in NumPy 2.5.\nAs an alternative, you "
            "can "
            "create a new view using np.reshape (with copy=False if needed).");
        give_shape(self, shape);
        return 0;
    });
}

PyObject* get_strides(PyObject* self, void*) {
    return guarded([&] { return to_tuple(array_of(self).strides()).release().ptr(); });
}

PyObject* get_dtype(PyObject* self, void*) {
    return guarded([&] { return wrap_dtype(array_of(self).dtype()).release().ptr(); });
}

/// A number that an array says of itself.
template <int64_t (*number)(const array&)>
PyObject* get_number(PyObject* self, void*) {
    return guarded([&] { return PyLong_FromLongLong(number(array_of(self))); });
}

int64_t ndim_of(const array& value) { return value.ndim(); }
int64_t size_of(const array& value) { return value.size(); }
int64_t itemsize_of(const array& value) { return value.itemsize(); }
int64_t nbytes_of(const array& value) { return value.nbytes(); }

PyObject* get_transposed(PyObject* self, void*) {
    return guarded([&] { return wrap_view(transpose(array_of(self), {}), self).release().ptr(); });
}

PyObject* get_matrix_transposed(PyObject* self, void*) {
    return guarded([&] {
        if (array_of(self).ndim() < 2) throw ValueError("matrix transpose with ndim < 2 is undefined");
        return wrap_view(swapaxes(array_of(self), -1, -2), self).release().ptr();
    });
}

PyObject* get_real(PyObject* self, void*) {
    return guarded([&]() -> PyObject* {
        if (!array_of(self).dtype().is_complex()) {
            Py_INCREF(self);
            return self;
        }
        return wrap_view(real(array_of(self)), self).release().ptr();
    });
}

int set_real(PyObject* self, PyObject* value, void*) {
    return guarded_number([&]() -> int {
        if (value == nullptr) throw AttributeError("Cannot delete array real part");
        const array target = real(array_of(self));
        const Argument given = to_argument(nb::handle(value));
        warn_of_lost_imaginary_part(weft::operand_type(given).dtype, target.dtype());
        assign(target, given);
        return 0;
    });
}

PyObject* get_imag(PyObject* self, void*) {
    return guarded([&] { return wrap_view(imag(array_of(self)), self).release().ptr(); });
}

int set_imag(PyObject* self, PyObject* value, void*) {
    return guarded_number([&]() -> int {
        if (value == nullptr) throw AttributeError("Cannot delete array imaginary part");
        if (!array_of(self).dtype().is_complex())
            throw TypeError("array does not have imaginary part to set");
        const array target = imag(array_of(self));
        const Argument given = to_argument(nb::handle(value));
        warn_of_lost_imaginary_part(weft::operand_type(given).dtype, target.dtype());
        assign(target, given);
        return 0;
    });
}

/// The function of the package that sets an attribute, with the value.
int set_by_package(PyObject* self, PyObject* value, const char* function, const char* deleted) {
    return guarded_number([&]() -> int {
        if (value == nullptr) throw AttributeError(deleted);
        nb::module_::import_(modules::kViews).attr(function)(nb::handle(self), nb::handle(value));
        return 0;
    });
}

int set_dtype(PyObject* self, PyObject* value, void*) {
    const bool may_go_on = guarded_number([&]() -> int {
                               if (value == nullptr) return 0;
                               deprecated_in_numpy_2_5(
                                   "Setting the dtype on a NumPy array has been deprecated in NumPy "
                                   "2.5.\nInstead of changing the "
                                   "dtype on an array x, create a new array with x.view(new_dtype)");
                               return 0;
                           }) == 0;
    if (!may_go_on) return -1;
    return set_by_package(self, value, "set_dtype", "Cannot delete array dtype");
}

int set_strides(PyObject* self, PyObject* value, void*) {
    return set_by_package(self, value, "set_strides", "Cannot delete array strides");
}

PyObject* get_view_object(PyObject* self, const char* name) {
    return guarded(
        [&] { return nb::module_::import_(modules::kViews).attr(name)(nb::handle(self)).release().ptr(); });
}

PyObject* get_flags(PyObject* self, void*) { return get_view_object(self, "flagsobj"); }
PyObject* get_flat(PyObject* self, void*) { return get_view_object(self, "flatiter"); }

int set_flat(PyObject* self, PyObject* value, void*) {
    return guarded_number([&]() -> int {
        if (value == nullptr) throw AttributeError("Cannot delete array flat iterator");
        const nb::object flat = steal_or_throw(get_flat(self, nullptr));
        nb::module_::import_("operator").attr("setitem")(flat, nb::ellipsis(), nb::handle(value));
        return 0;
    });
}

PyObject* get_base(PyObject* self, void*) {
    PyObject* base = base_of(self);
    return Py_NewRef(base == nullptr ? Py_None : base);
}

PyObject* get_data(PyObject* self, void*) {
    return guarded([&] {
        if (device_of(array_of(self)).is_cpu()) return PyMemoryView_FromObject(self);
        return nb::module_::import_(modules::kPointers)
            .attr("DeviceMemory")(nb::handle(self))
            .release()
            .ptr();
    });
}

PyObject* get_device(PyObject* self, void*) {
    return guarded([&] {
        static std::atomic<PyObject*> cpu = nullptr;  // a device is a string, which nobody changes
        DeviceBackend& device = device_of(array_of(self));
        if (PyObject* known = cpu.load(std::memory_order_acquire); known != nullptr && device.is_cpu())
            return Py_NewRef(known);
        PyObject* made = nb::module_::import_(modules::kDevice).attr("_of")(device.name()).release().ptr();
        if (device.is_cpu()) cpu.store(Py_NewRef(made), std::memory_order_release);
        return made;
    });
}

PyGetSetDef kAttributes[] = {
    {"shape", get_shape, set_shape, "The extent of each axis. Setting it needs no copy or fails.", nullptr},
    {"strides", get_strides, set_strides, "Bytes from one element to the next, for each axis.", nullptr},
    {"dtype", get_dtype, set_dtype, "The type of the elements. Setting it needs no copy or fails.", nullptr},
    {"ndim", get_number<ndim_of>, nullptr, "The number of axes.", nullptr},
    {"size", get_number<size_of>, nullptr, "The number of elements.", nullptr},
    {"itemsize", get_number<itemsize_of>, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", get_number<nbytes_of>, nullptr, "Bytes of all elements.", nullptr},
    {"T", get_transposed, nullptr, "A view with the axes reversed.", nullptr},
    {"mT", get_matrix_transposed, nullptr, "A view with the last two axes exchanged.", nullptr},
    {"real", get_real, set_real, "The real part: a view.", nullptr},
    {"imag", get_imag, set_imag, "The imaginary part: a view; of a real array read-only zeros.", nullptr},
    {"flags", get_flags, nullptr, "How the elements lie in memory, and whether they may be written.",
     nullptr},
    {"flat", get_flat, set_flat, "An iterator over the elements in C order.", nullptr},
    {"base", get_base, nullptr,
     "What owns the memory of a view: an array, or who lent it. None for an owner.", nullptr},
    {"device", get_device, nullptr, "Where the array is: a weft.device, such as 'cpu' or 'cuda:0'.", nullptr},
    {"__cuda_array_interface__", get_cuda_interface, nullptr,
     "Where the elements are on a GPU, version 3; the memory is exported for as long as this object lives.",
     nullptr},
    {"__array_interface__", get_array_interface, nullptr,
     "Where the elements are in memory, version 3; it is exported for as long as this object lives.",
     nullptr},
    {"__array_struct__", get_array_struct, nullptr,
     "The same as a structure of C, in a capsule that keeps the array.", nullptr},
    {"data", get_data, nullptr, "A memoryview of the elements; on a GPU what has their address as `ptr`.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

constexpr const char* kDoc =
    "ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None)\n--\n\n"
    "An array of elements of one type, as NumPy's. Results are computed when they are looked at.\n\n"
    "Made by array, zeros, arange and so on; calling the type gives an array with arbitrary values.\n";

}  // namespace

nb::object wrap(array&& value) {
    auto* object = allocate<ArrayObject>(registry.ndarray);
    new (&object->value) array(std::move(value));
    object->base = nullptr;
    new (&object->exported) std::atomic<MemoryPin*>(nullptr);
    object->weak_references = nullptr;
    return nb::steal(reinterpret_cast<PyObject*>(object));
}

nb::object wrap_as(PyTypeObject* type, array&& value, PyObject* origin, PyObject* base) {
    nb::object object = make_object(type, std::move(value));
    base_of(object.ptr()) = Py_XNewRef(base);
    if (type != registry.ndarray) finalize(object, origin);
    return object;
}

double priority_of(PyObject* object) {
    if (is_plain_array(object)) return 0;
    const nb::object priority = nb::getattr(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))),
                                            "__array_priority__", nb::none());
    const double value = priority.is_none() ? 0 : PyFloat_AsDouble(priority.ptr());
    if (PyErr_Occurred() == nullptr) return value;
    PyErr_Clear();
    return 0;
}

MemoryPin& exported_memory(PyObject* self) {
    auto* object = reinterpret_cast<ArrayObject*>(self);
    if (MemoryPin* exported = object->exported.load(std::memory_order_acquire)) return *exported;
    auto pin = std::make_unique<MemoryPin>();
    {
        const array value = object->value;
        const GilRelease release;
        *pin = MemoryPin(value);
    }
    MemoryPin* before = nullptr;  // another thread may have been faster
    return object->exported.compare_exchange_strong(before, pin.get()) ? *pin.release() : *before;
}

namespace {

void set_base(PyObject* view, PyObject* owner) {
    const array& made = array_of(view);
    if (made.owns_data()) return;
    if (is_array(owner) && array_of(owner).storage() == made.storage()) {
        // Straight to the owner, so that a view of a view keeps no more alive than itself; through arrays of
        // other types not, as in NumPy.
        for (PyObject* base = base_of(owner);
             base != nullptr && is_array(base) && Py_TYPE(base) == Py_TYPE(view); base = base_of(owner))
            owner = base;
        base_of(view) = Py_NewRef(owner);
    } else if (made.storage()->foreign) {
        base_of(view) = Py_NewRef(owner);
    } else {
        // A view of a copy that was made on the way.
        const array copied(made.storage(), made.dtype(), made.shape(), made.strides(), made.offset(), true);
        base_of(view) = wrap(array(copied)).release().ptr();
    }
}

}  // namespace

nb::object wrap_plain_view(array&& value, nb::handle origin) {
    nb::object view = wrap(std::move(value));
    set_base(view.ptr(), origin.ptr());
    return view;
}

nb::object wrap_view_as(PyTypeObject* type, array&& value, nb::handle origin) {
    if (type == registry.ndarray) return wrap_plain_view(std::move(value), origin);
    nb::object view = make_object(type, std::move(value));
    set_base(view.ptr(), origin.ptr());
    finalize(view, origin.ptr());
    return view;
}

nb::object wrap_view(array&& value, nb::handle origin) {
    PyObject* owner = origin.ptr();
    if (!is_plain_array(owner)) {
        return is_array(owner) ? wrap_view_as(Py_TYPE(owner), std::move(value), origin)
                               : wrap_plain_view(std::move(value), origin);
    }
    nb::object view = wrap(std::move(value));
    const array& made = array_of(view.ptr());
    if (made.owns_data()) return view;
    if (array_of(owner).storage() == made.storage()) {
        PyObject* base = base_of(owner);
        base_of(view.ptr()) = Py_NewRef(base != nullptr && is_plain_array(base) ? base : owner);
    } else {
        set_base(view.ptr(), owner);
    }
    return view;
}

void become(nb::handle self, array value) {
    array_of(self);  // throws for what is no array
    auto* object = reinterpret_cast<ArrayObject*>(self.ptr());
    const bool stays = value.storage() == object->value.storage();
    if (object->exported.load(std::memory_order_acquire) != nullptr && !stays)
        throw ValueError("cannot resize an array whose memory was exported by __array_interface__");
    if (stays && object->value.owns_data())  // another view of its own
        value = array(value.storage(), value.dtype(), value.shape(), value.strides(), value.offset(),
                      object->value.writeable());
    std::swap(object->value, value);  // the end of what it was may run Python's code, which finds it whole
}

void set_writeable(PyObject* self, bool writeable) {
    array& value = array_of(self);
    // A view may be written when any of the arrays below it may.
    bool allowed = value.owns_data() || base_of(self) == nullptr || !is_array(base_of(self));
    for (PyObject* base = base_of(self); !allowed && base != nullptr && is_array(base); base = base_of(base))
        allowed = array_of(base).writeable();
    if (writeable && !allowed) throw ValueError("cannot set WRITEABLE flag to True of this array");
    value.set_writeable(writeable);
}

void bind_array(nb::module_& m) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_new, reinterpret_cast<void*>(array_new)},
        {Py_tp_dealloc, reinterpret_cast<void*>(array_dealloc)},
        {Py_tp_repr, reinterpret_cast<void*>(array_repr)},
        {Py_tp_str, reinterpret_cast<void*>(array_str)},
        {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
        {Py_tp_getset, kAttributes},
        {Py_tp_members, kMembers},
        {Py_tp_doc, const_cast<char*>(kDoc)},
    };
    add_operator_slots(slots);
    add_in_place_slots(slots);
    add_index_slots(slots);
    add_array_buffer_slots(slots);
    registry.ndarray = make_type(m, "ndarray", sizeof(ArrayObject),
                                 Py_TPFLAGS_BASETYPE | (is_numpy_2_5() ? Py_TPFLAGS_SEQUENCE : 0), slots);
    bind_array_methods(m);
    m.def("_set_shape", give_shape, arg("array"), arg("shape"));
    const nb::handle type(reinterpret_cast<PyObject*>(registry.ndarray));
    registry.finalize = nb::object(type.attr("__array_finalize__")).release().ptr();
}

}  // namespace weft::python
