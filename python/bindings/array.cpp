// weft.ndarray: the type, its operators and attributes. Its methods are in array_methods.cpp.
#include "bindings.h"
#include "graph/placement.h"
#include "graph/shown_memory.h"
#include "graph/storage.h"

namespace weft::python {

namespace {

PyObject*& base_of(PyObject* self) { return reinterpret_cast<ArrayObject*>(self)->base; }

void array_dealloc(PyObject* self) {
    PyObject* base = base_of(self);
    if (const MemoryPin* shown = reinterpret_cast<ArrayObject*>(self)->shown) [[unlikely]]
        delete shown;
    array_of(self).~array();
    free_object(self);
    Py_XDECREF(base);
}

PyObject* array_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
    return guarded([&] {
        static const char* names[] = {"shape", "dtype", "buffer", "offset", "strides", "order", nullptr};
        PyObject *shape = nullptr, *dtype = Py_None, *buffer = Py_None, *offset = nullptr, *strides = Py_None,
                 *order = Py_None;
        if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOOOO:ndarray", const_cast<char**>(names),
                                         &shape, &dtype, &buffer, &offset, &strides, &order))
            throw_python_error();
        if (buffer != Py_None || strides != Py_None || offset != nullptr)
            throw NotImplementedError(
                "weft's ndarray() takes no buffer, offset or strides; meanwhile use weft.asarray(buffer, "
                "copy=False)");
        return wrap(empty(to_dims(shape), to_dtype(dtype).value_or(DType()), to_order(order, "CF")))
            .release()
            .ptr();
    });
}

PyObject* call_format(const char* function, PyObject* self) {
    return guarded([&] {
        return nb::module_::import_("weft._format").attr(function)(nb::handle(self)).release().ptr();
    });
}

PyObject* array_repr(PyObject* self) { return call_format("array_repr", self); }
PyObject* array_str(PyObject* self) { return call_format("array_str", self); }

PyObject* get_shape(PyObject* self, void*) {
    return guarded([&] { return to_tuple(array_of(self).shape()).release().ptr(); });
}

int set_shape(PyObject* self, PyObject* shape, void*) {
    return guarded_number([&]() -> int {
        if (shape == nullptr) throw AttributeError("Cannot delete array shape");
        array& value = array_of(self);
        const Dims dims = to_dims(shape);
        const array reshaped = reshape(value, dims);  // refuses a wrong number of elements
        if (reshaped.storage() != value.storage())
            throw AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the "
                "desired "
                "shape.");
        value.set_layout(reshaped.shape(), reshaped.strides());
        return 0;
    });
}

PyObject* get_strides(PyObject* self, void*) {
    return guarded([&] { return to_tuple(array_of(self).strides()).release().ptr(); });
}

PyObject* get_dtype(PyObject* self, void*) {
    return guarded([&] { return wrap_dtype(array_of(self).dtype()).release().ptr(); });
}

PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(array_of(self).ndim()); }
PyObject* get_size(PyObject* self, void*) { return PyLong_FromLongLong(array_of(self).size()); }
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromLongLong(array_of(self).itemsize()); }
PyObject* get_nbytes(PyObject* self, void*) { return PyLong_FromLongLong(array_of(self).nbytes()); }

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
        assign(real(array_of(self)), to_argument(nb::handle(value)));
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
        assign(imag(array_of(self)), to_argument(nb::handle(value)));
        return 0;
    });
}

PyObject* get_view_object(PyObject* self, const char* name) {
    return guarded(
        [&] { return nb::module_::import_("weft._views").attr(name)(nb::handle(self)).release().ptr(); });
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

PyObject* get_data(PyObject* self, void*) { return PyMemoryView_FromObject(self); }

PyObject* get_device(PyObject* self, void*) {
    return guarded([&] {
        const std::string name = device_of(array_of(self)).name();
        return nb::module_::import_("weft._device").attr("_of")(name).release().ptr();
    });
}

PyGetSetDef kAttributes[] = {
    {"shape", get_shape, set_shape, "The extent of each axis. Setting it needs no copy or fails.", nullptr},
    {"strides", get_strides, nullptr, "Bytes from one element to the next, for each axis.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of axes.", nullptr},
    {"size", get_size, nullptr, "The number of elements.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
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
     "Where the elements are on a GPU, version 3; the memory is shown for as long as this object lives.",
     nullptr},
    {"data", get_data, nullptr, "A memoryview of the elements.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

constexpr const char* kDoc =
    "ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None)\n--\n\n"
    "An array of elements of one type, as NumPy's. Results are computed when they are looked at.\n\n"
    "Made by array, zeros, arange and so on; calling the type gives an array with arbitrary values.\n";

}  // namespace

nb::object wrap(array value) {
    auto* object = allocate<ArrayObject>(registry.ndarray);
    new (&object->value) array(std::move(value));
    object->base = nullptr;
    object->shown = nullptr;
    return nb::steal(reinterpret_cast<PyObject*>(object));
}

nb::object wrap_view(array value, nb::handle origin) {
    nb::object view = wrap(std::move(value));
    const array& made = array_of(view);
    if (made.owns_data()) return view;
    PyObject* owner = origin.ptr();
    if (is_array(owner) && array_of(owner).storage() == made.storage()) {
        // Straight to the owner, so that a view of a view keeps no more alive than itself.
        PyObject* base = base_of(owner);
        base_of(view.ptr()) = Py_NewRef(base != nullptr && is_array(base) ? base : owner);
    } else if (made.storage()->foreign) {
        base_of(view.ptr()) = Py_NewRef(owner);
    } else {
        // A view of a copy that was made on the way.
        const array copied(made.storage(), made.dtype(), made.shape(), made.strides(), made.offset(), true);
        base_of(view.ptr()) = wrap(copied).release().ptr();
    }
    return view;
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
        {Py_tp_doc, const_cast<char*>(kDoc)},
    };
    add_operator_slots(slots);
    add_in_place_slots(slots);
    add_index_slots(slots);
    add_array_buffer_slots(slots);
    registry.ndarray = make_type(m, "ndarray", sizeof(ArrayObject), 0, slots);
    bind_array_methods(m);
}

}  // namespace weft::python
