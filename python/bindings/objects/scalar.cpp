// NumPy's scalars: immutable elements with the hierarchy of types from `generic` to `float64`. A value that
// is still to be computed stays lazy until it is looked at.
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>

#include "api/fast/fast_call.h"
#include "api/interop/element_text.h"
#include "convert/convert.h"
#include "convert/foreign_buffer.h"
#include "core/scalar_traits.h"
#include "device/devices.h"
#include "fast/fast_call.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"

namespace weft::python {

namespace {

ScalarObject* object_of(PyObject* self) { return reinterpret_cast<ScalarObject*>(self); }

void scalar_dealloc(PyObject* self) {
    delete object_of(self)->lazy.load(std::memory_order_relaxed);
    free_object(self);
}

std::optional<DType> dtype_of_class(PyTypeObject* type) {
    for (size_t i = 0; i < registry.scalar_types.size(); ++i) {
        if (type == registry.scalar_types[i]) return DType(static_cast<ScalarType>(i));
    }
    return std::nullopt;
}

/// A text as Python's own types read it: float("1e3").
nb::object parse_text(PyObject* text, DType dtype) {
    PyObject* type = dtype.is_integer()   ? reinterpret_cast<PyObject*>(&PyLong_Type)
                     : dtype.is_complex() ? reinterpret_cast<PyObject*>(&PyComplex_Type)
                     : dtype.is_bool()    ? reinterpret_cast<PyObject*>(&PyBool_Type)
                                          : reinterpret_cast<PyObject*>(&PyFloat_Type);
    return nb::borrow(type)(nb::handle(text));
}

PyObject* scalar_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
    return guarded([&]() -> PyObject* {
        const std::optional<DType> dtype = dtype_of_class(type);
        if (!dtype) {
            const nb::object name = nb::handle(reinterpret_cast<PyObject*>(type)).attr("__name__");
            throw TypeError("cannot create 'weft." + text_of(name) + "' instances");
        }
        if (keywords != nullptr && PyDict_Size(keywords) > 0)
            throw TypeError("scalar types take no keyword arguments");
        const Py_ssize_t count = PyTuple_Size(arguments);
        if (count == 0) {
            const char zero[16] = {};
            return wrap_scalar(*dtype, zero).release().ptr();
        }
        if (count == 1) {
            if (PyObject* scalar = number_as_scalar(PyTuple_GetItem(arguments, 0), *dtype)) return scalar;
        }
        nb::object value = nb::borrow(PyTuple_GetItem(arguments, 0));
        if (count == 2 && dtype->is_complex()) {
            value = nb::borrow(reinterpret_cast<PyObject*>(&PyComplex_Type))(
                value, nb::handle(PyTuple_GetItem(arguments, 1)));
        } else if (count > 1) {
            throw TypeError("scalar types take at most one argument");
        }
        if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()))
            value = parse_text(value.ptr(), *dtype);
        if (value.is_none()) return wrap_result(convert_sequence(value.ptr(), dtype)).release().ptr();
        if (is_array(value.ptr()) || is_scalar(value.ptr())) {
            const array given = to_array(value);
            warn_of_lost_imaginary_part(given.dtype(), *dtype);
            return wrap_result(astype(given, *dtype)).release().ptr();
        }
        const DeviceScope on_host(cpu_device());
        if (PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) || PyComplex_Check(value.ptr())) {
            array foreign;
            if (!PyBool_Check(value.ptr()) && has_foreign_buffer(value.ptr()))
                return wrap_result(astype(convert_buffer(value.ptr(), false), *dtype)).release().ptr();
            return wrap_result(convert_sequence(value.ptr(), dtype)).release().ptr();
        }
        array converted;
        if (convert_foreign(value.ptr(), dtype, converted))
            return wrap_result(std::move(converted)).release().ptr();
        // Anything that Python's own type takes: objects with __float__, __index__ and so on.
        return wrap_result(convert_sequence(parse_text(value.ptr(), *dtype).ptr(), dtype)).release().ptr();
    });
}

nb::object item(nb::handle self) {
    PyObject* const scalar = checked_scalar(self);
    return element_to_python(scalar_dtype(scalar), scalar_bytes(scalar));
}

Py_hash_t scalar_hash(PyObject* self) {
    return guarded_number([&]() -> Py_hash_t { return PyObject_Hash(item(self).ptr()); });
}

PyObject* to_str(const std::string& text) {
    return steal_or_throw(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())))
        .release()
        .ptr();
}

PyObject* scalar_str(PyObject* self) {
    return guarded([&] { return to_str(element_text(scalar_dtype(self), scalar_bytes(self))); });
}

// Whether repr() of scalars has been that of Python's numbers anywhere, and each context is asked:
// set_printoptions(legacy="1.25").
std::atomic<bool> plain_scalars_asked = false;

bool prints_plain_scalars() {
    return plain_scalars_asked.load(std::memory_order_relaxed) &&
           nb::cast<bool>(nb::module_::import_(modules::kFormat).attr("plain_scalars")());
}

/// 'np.float64(0.5)', 'np.True_'.
PyObject* scalar_repr(PyObject* self) {
    return guarded([&] {
        const DType dtype = scalar_dtype(self);
        std::string text = element_text(dtype, scalar_bytes(self));
        if (prints_plain_scalars()) return to_str(text);
        if (dtype.is_bool()) return to_str("np." + text + "_");
        if (text[0] == '(') text = text.substr(1, text.size() - 2);
        return to_str("np." + std::string(dtype.name()) + "(" + text + ")");
    });
}

PyObject* scalar_subscript(PyObject* self, PyObject* key) {
    return guarded([&]() -> PyObject* {
        if (PyTuple_Check(key) && PyTuple_Size(key) == 0) {
            Py_INCREF(self);
            return self;
        }
        const bool is_truth = PyBool_Check(key) || (is_scalar(key) && scalar_dtype(key).is_bool()) ||
                              (is_array(key) && array_of(key).dtype().is_bool() && array_of(key).ndim() == 0);
        const DeviceScope on_host(cpu_device());  // where scalars are
        const nb::bool_ truth(is_truth && PyObject_IsTrue(key) == 1);
        if (is_truth) key = truth.ptr();
        if (key == Py_Ellipsis || key == Py_None || PyTuple_Check(key) || is_truth)
            return PyObject_GetItem(wrap(copy(scalar_array(self))).ptr(), key);
        throw IndexError("invalid index to scalar variable.");
    });
}

/// The types above the concrete ones: name and base.
constexpr struct {
    const char* name;
    const char* base;
} kAbstractTypes[] = {
    {"number", "generic"},          {"integer", "number"}, {"signedinteger", "integer"},
    {"unsignedinteger", "integer"}, {"inexact", "number"}, {"floating", "inexact"},
    {"complexfloating", "inexact"},
};

const char* abstract_base(DType dtype) {
    switch (dtype.kind()) {
        case 'b': return "generic";
        case 'i': return "signedinteger";
        case 'u': return "unsignedinteger";
        case 'f': return "floating";
        default: return "complexfloating";
    }
}

PyTypeObject* type_named(nb::module_& m, const char* name) {
    return reinterpret_cast<PyTypeObject*>(nb::object(m.attr(name)).ptr());
}

PyObject* get_dtype(PyObject* self, void*) {
    return guarded([&] { return wrap_dtype(scalar_dtype(self)).release().ptr(); });
}

PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromLongLong(scalar_dtype(self).itemsize()); }

PyObject* get_zero(PyObject*, void*) { return PyLong_FromLong(0); }
PyObject* get_one(PyObject*, void*) { return PyLong_FromLong(1); }
PyObject* get_empty_tuple(PyObject*, void*) { return PyTuple_New(0); }
PyObject* get_self(PyObject* self, void*) {
    Py_INCREF(self);
    return self;
}
PyObject* get_none(PyObject*, void*) { Py_RETURN_NONE; }

PyObject* get_part(PyObject* self, bool imaginary) {
    return guarded([&]() -> PyObject* {
        const DType dtype = scalar_dtype(self);
        if (!dtype.is_complex()) {
            if (!imaginary) return get_self(self, nullptr);
            const char zero[16] = {};
            return wrap_scalar(dtype, zero).release().ptr();
        }
        const DType part = dtype.real();
        return wrap_scalar(part, scalar_bytes(self) + (imaginary ? part.itemsize() : 0)).release().ptr();
    });
}

PyObject* get_real(PyObject* self, void*) { return get_part(self, false); }
PyObject* get_imag(PyObject* self, void*) { return get_part(self, true); }

PyObject* get_device(PyObject* self, void*) {
    return guarded([&] {
        const DeviceBackend* gpu = gpu_of_scalar(self);
        const std::string name = gpu == nullptr ? "cpu" : gpu->name();
        return nb::module_::import_(modules::kDevice).attr("_of")(name).release().ptr();
    });
}

// What `x.__class__` is of scalars that isinstance takes for Python's numbers and NumPy's scalars, by their
// types
// (_array/number_classes.py): set when the package is loaded, and when the first is asked for after NumPy is.
struct NumberClasses {
    std::array<std::atomic<PyObject*>, kScalarTypeCount> of_types{};
    std::atomic<bool> know_numpys = true;  // until the package has given what sets them
    PyObject* set_numpys = nullptr;
} number_classes;

void look_for_numpys() {
    PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    if (numpy == nullptr || !nb::hasattr(nb::handle(numpy), "float64")) return;
    if (!number_classes.know_numpys.exchange(true)) nb::handle(number_classes.set_numpys)(nb::handle(numpy));
}

PyObject* get_class(PyObject* self, void*) {
    return guarded([&] {
        if (!number_classes.know_numpys) look_for_numpys();
        const auto type = static_cast<size_t>(scalar_dtype(self).scalar_type());
        PyObject* found = number_classes.of_types[type];
        if (found == nullptr) found = reinterpret_cast<PyObject*>(Py_TYPE(self));
        Py_INCREF(found);
        return found;
    });
}

PyGetSetDef kGetters[] = {
    {"__class__", get_class, nullptr,
     "The scalar's type, or a class that is equal to it and a subclass of Python's number or NumPy's type.",
     nullptr},
    {"dtype", get_dtype, nullptr, "The scalar's dtype.", nullptr},
    {"shape", get_empty_tuple, nullptr, "(): a scalar has no axes.", nullptr},
    {"strides", get_empty_tuple, nullptr, "(): a scalar has no axes.", nullptr},
    {"ndim", get_zero, nullptr, "0: a scalar has no axes.", nullptr},
    {"size", get_one, nullptr, "1.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of the value.", nullptr},
    {"nbytes", get_itemsize, nullptr, "Bytes of the value.", nullptr},
    {"T", get_self, nullptr, "The scalar itself.", nullptr},
    {"base", get_none, nullptr, "None: a scalar is no view.", nullptr},
    {"device", get_device, nullptr, "Where the value is, or was read: a weft.device.", nullptr},
    {"real", get_real, nullptr, "The real part.", nullptr},
    {"imag", get_imag, nullptr, "The imaginary part.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyObject* checked_scalar(nb::handle object) {
    if (is_scalar(object.ptr())) return object.ptr();
    throw TypeError("expected a scalar of weft's, not " + text_of(object.type().attr("__name__")));
}

PyObject* make_scalar(DType dtype) {
    auto* object = allocate<ScalarObject>(registry.scalar_types[static_cast<size_t>(dtype.scalar_type())]);
    new (&object->dtype) DType(dtype);
    new (&object->lazy) std::atomic<array*>(nullptr);
    new (&object->device) std::atomic<DeviceBackend*>(nullptr);
    std::memset(object->bytes, 0, sizeof object->bytes);
    return reinterpret_cast<PyObject*>(object);
}

namespace {

// Of all scalars: held while the array is copied, or the bytes of its value are.
std::mutex lazy_mutex;

}  // namespace

std::optional<array> lazy_of(PyObject* self) {
    const ScalarObject* object = object_of(self);
    if (object->lazy.load(std::memory_order_acquire) == nullptr) [[likely]]
        return {};
    const std::lock_guard lock(lazy_mutex);
    const array* lazy = object->lazy.load(std::memory_order_relaxed);
    return lazy == nullptr ? std::nullopt : std::optional<array>(*lazy);
}

const char* scalar_bytes(PyObject* self) {
    ScalarObject* object = object_of(self);
    if (const std::optional<array> lazy = lazy_of(self)) {
        alignas(16) char bytes[16] = {};
        read_scalar(*lazy, bytes);
        std::unique_ptr<array> computed;  // is destroyed after the lock
        const std::lock_guard lock(lazy_mutex);
        if (object->lazy.load(std::memory_order_relaxed) != nullptr) {  // another thread may have been faster
            std::memcpy(object->bytes, bytes, sizeof bytes);
            normalize_bool(object);
            if (DeviceBackend& device = device_of(*lazy); !device.is_cpu()) object->device = &device;
            computed.reset(object->lazy.exchange(nullptr, std::memory_order_release));
        }
    }
    return object->bytes;
}

DeviceBackend* gpu_of_scalar(PyObject* self) {
    if (const std::optional<array> lazy = lazy_of(self)) {
        DeviceBackend& device = device_of(*lazy);
        return device.is_cpu() ? nullptr : &device;
    }
    return object_of(self)->device;
}

array scalar_array(PyObject* self) {
    if (std::optional<array> lazy = lazy_of(self)) return std::move(*lazy);
    return weft::scalar(object_of(self)->dtype, object_of(self)->bytes);
}

nb::object wrap_scalar(DType dtype, const void* bytes) {
    if (dtype.is_bool()) return nb::borrow(registry.truths[*static_cast<const char*>(bytes) != 0 ? 1 : 0]);
    PyObject* self = make_scalar(dtype);
    if (dtype.itemsize() == 8) {
        std::memcpy(object_of(self)->bytes, bytes, 8);
    } else {
        std::memcpy(object_of(self)->bytes, bytes, static_cast<size_t>(dtype.itemsize()));
    }
    return nb::steal(self);
}

nb::object wrap_scalar(array value) {
    if (value.ndim() != 0) throw TypeError("only 0-dimensional arrays can be converted to scalars");
    if (value.dtype().is_bool()) {
        char truth = 0;
        if (try_read(value, value.offset(), &truth)) return wrap_scalar(value.dtype(), &truth);
    }
    nb::object self = nb::steal(make_scalar(value.dtype()));
    ScalarObject* object = object_of(self.ptr());
    if (!try_read(value, value.offset(), object->bytes)) object->lazy = new array(std::move(value));
    return self;
}

void bind_scalars(nb::module_& m) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_new, reinterpret_cast<void*>(scalar_new)},
        {Py_tp_dealloc, reinterpret_cast<void*>(scalar_dealloc)},
        {Py_tp_hash, reinterpret_cast<void*>(scalar_hash)},
        {Py_tp_repr, reinterpret_cast<void*>(scalar_repr)},
        {Py_tp_str, reinterpret_cast<void*>(scalar_str)},
        {Py_mp_subscript, reinterpret_cast<void*>(scalar_subscript)},
        {Py_tp_getset, kGetters},
        {Py_tp_doc, const_cast<char*>("The base of all of weft's scalar types.")},
    };
    add_operator_slots(slots);
    add_scalar_buffer_slots(slots);
    registry.generic = make_type(m, "generic", sizeof(ScalarObject), Py_TPFLAGS_BASETYPE, slots);
    for (const auto& [name, base] : kAbstractTypes) {
        make_type(m, name, sizeof(ScalarObject), Py_TPFLAGS_BASETYPE,
                  {{Py_tp_doc, const_cast<char*>("An abstract scalar type: for isinstance and issubdtype.")}},
                  type_named(m, base));
    }
    for (const DTypeInfo& info : DType::all()) {
        const DType dtype(info.scalar_type);
        const std::string name(info.name);
        registry.scalar_types[static_cast<size_t>(info.scalar_type)] =
            make_type(m, name.c_str(), sizeof(ScalarObject), 0,
                      {{Py_tp_dealloc, reinterpret_cast<void*>(scalar_dealloc)},
                       {Py_tp_doc, const_cast<char*>("A scalar type. Call it to convert a value to it.")}},
                      type_named(m, abstract_base(dtype)));
        registry.add_scalar_type(registry.scalar_types[static_cast<size_t>(info.scalar_type)]);
    }

    for (const bool truth : {false, true}) {
        PyObject* scalar = make_scalar(ScalarType::kBool);
        object_of(scalar)->bytes[0] = static_cast<char>(truth);
        registry.truths[truth ? 1 : 0] = scalar;
    }

    m.def(
        "_set_number_class",
        [](nb::handle dtype, nb::handle kind) {
            const auto type = static_cast<size_t>(to_dtype_required(dtype).scalar_type());
            number_classes.of_types[type] = kind.inc_ref().ptr();
        },
        arg("dtype"), arg("kind"));
    m.def(
        "_set_numpys_classes_by",
        [](nb::handle function) {
            number_classes.set_numpys = function.inc_ref().ptr();
            number_classes.know_numpys = false;
        },
        arg("function"));
    m.def("_ask_for_plain_scalars", [] { plain_scalars_asked.store(true); });

    PyTypeObject* type = registry.generic;
    method(type, "item", [](nb::handle self) { return item(self); }, "The value as Python's own type.");
    method(type, "tolist", [](nb::handle self) { return item(self); }, "The value as Python's own type.");
    method(
        type, "__format__",
        [](nb::handle self, nb::handle spec) {
            if (!PyUnicode_Check(spec.ptr()))
                throw TypeError("__format__() argument 1 must be str, not " + type_name(spec.ptr()));
            return steal_or_throw(PyObject_Format(item(self).ptr(), spec.ptr()));
        },
        arg("format_spec"));
    method(type, "__complex__", [](nb::handle self) {
        return nb::borrow(reinterpret_cast<PyObject*>(&PyComplex_Type))(item(self));
    });
    method(type, "__copy__", [](nb::handle self) { return nb::borrow(self); });
    method(type, "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); });
    method(type, "__reduce__", [](nb::handle self) {
        return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(self.ptr()))),
                              nb::make_tuple(item(self)));
    });
    method(
        type, "__array__",
        [](nb::handle self, nb::handle dtype, nb::handle copy) {
            return numpy_array(self, scalar_dtype(checked_scalar(self)), dtype, copy);
        },
        arg("dtype") = nb::none(), arg("copy") = nb::none());
    // Whatever else arrays can do, a scalar does as an array of no dimensions.
    method(
        type, "__getattr__",
        [](nb::handle self, const char* name) -> nb::object {
            PyObject* const scalar = checked_scalar(self);
            if (std::strncmp(name, "__", 2) == 0)
                throw AttributeError("'" + std::string(scalar_dtype(scalar).name()) +
                                     "' object has no attribute '" + name + "'");
            nb::object attribute = nb::getattr(wrap(copy(scalar_array(scalar))), name);
            if (!PyCallable_Check(attribute.ptr())) return attribute;
            return nb::cpp_function(
                [attribute](const nb::args& args, const nb::kwargs& options) -> nb::object {
                    nb::object result = attribute(*args, **options);
                    return is_array(result.ptr()) ? wrap_result(array(array_of(result))) : result;
                });
        },
        arg("name"));
}

}  // namespace weft::python
