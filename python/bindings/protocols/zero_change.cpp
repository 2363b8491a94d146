// What weft.install() cannot do in Python: a metaclass for types that are made already, and an import
// function that adds no frame to tracebacks.
#include <string_view>

#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

/// A function that is called as ever, unless its first argument is the name of NumPy or of a module of
/// NumPy's.
struct RouterObject {
    PyObject_HEAD;
    PyObject* function;
    PyObject* handler;  // what is called then
};
RouterObject* router_of(PyObject* self) { return reinterpret_cast<RouterObject*>(self); }
PyTypeObject* router_type = nullptr;  // set once, when the module is imported

bool names_numpy(PyObject* arguments) {
    if (PyTuple_Size(arguments) == 0) return false;
    PyObject* const first = PyTuple_GetItem(arguments, 0);
    if (!PyUnicode_Check(first)) return false;
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(first, &size);
    if (text == nullptr) {
        PyErr_Clear();
        return false;
    }
    constexpr std::string_view kName = "numpy";
    const std::string_view name(text, static_cast<size_t>(size));
    return name.starts_with(kName) && (name.size() == kName.size() || name[kName.size()] == '.');
}

PyObject* router_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
    RouterObject* const router = router_of(self);
    return PyObject_Call(names_numpy(arguments) ? router->handler : router->function, arguments, keywords);
}

PyObject* router_getattr(PyObject* self, PyObject* name) {
    return PyObject_GetAttr(router_of(self)->function, name);
}

PyObject* router_new(PyTypeObject*, PyObject* arguments, PyObject*) {
    PyObject *function = nullptr, *handler = nullptr;
    if (PyArg_ParseTuple(arguments, "OO:_Router", &function, &handler) == 0) return nullptr;
    auto* router = PyObject_New(RouterObject, router_type);
    if (router == nullptr) return nullptr;
    Py_INCREF(function);
    Py_INCREF(handler);
    router->function = function;
    router->handler = handler;
    return reinterpret_cast<PyObject*>(router);
}

void router_dealloc(PyObject* self) {
    Py_CLEAR(router_of(self)->function);
    Py_CLEAR(router_of(self)->handler);
    free_object(self);
}

/// Gives a type of weft's another metaclass, which is derived from `type` and has no members of its own.
void set_metaclass(nb::type_object type, nb::type_object metaclass) {
    auto* const chosen = reinterpret_cast<PyTypeObject*>(metaclass.ptr());
    if (PyType_IsSubtype(chosen, &PyType_Type) == 0) throw TypeError("a metaclass is derived from type");
    auto* const before = Py_TYPE(type.ptr());
    if (before == chosen) return;
#ifndef Py_LIMITED_API
    // Before Python 3.12 a class that is made in Python does not inherit the quick way of calls.
    chosen->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    chosen->tp_vectorcall_offset = PyType_Type.tp_vectorcall_offset;
#endif
    Py_INCREF(metaclass.ptr());
    Py_SET_TYPE(type.ptr(), chosen);
    if ((PyType_GetFlags(before) & Py_TPFLAGS_HEAPTYPE) != 0) Py_DECREF(reinterpret_cast<PyObject*>(before));
}

bool is_of_python(PyTypeObject* kind) {
    return kind == &PyFloat_Type || kind == &PyLong_Type || kind == &PyBool_Type || kind == &PyList_Type ||
           kind == &PyTuple_Type || kind == &PyUnicode_Type || kind == &PyDict_Type ||
           kind == &PyComplex_Type || kind == Py_TYPE(Py_None);
}

/// isinstance(object, cls), with what is usual decided here; the metaclass's own method decides the rest.
nb::object check_instance(nb::handle cls, nb::handle object) {
    auto* const kind = Py_TYPE(object.ptr());
    if (PyType_IsSubtype(kind, reinterpret_cast<PyTypeObject*>(cls.ptr())) != 0) return nb::bool_(true);
    if (is_of_python(kind) || is_scalar(object.ptr()) || is_plain_array(object.ptr()) ||
        is_dtype(object.ptr()))
        return nb::bool_(false);
    return cls.type().attr("_is_instance")(cls, object);
}

/// issubclass(kind, cls), likewise.
nb::object check_subclass(nb::handle cls, nb::handle kind) {
    if (PyType_Check(kind.ptr()) != 0 && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(kind.ptr()),
                                                          reinterpret_cast<PyTypeObject*>(cls.ptr())) != 0)
        return nb::bool_(true);
    return cls.type().attr("_is_subclass")(cls, kind);
}

}  // namespace

void bind_zero_change(nb::module_& m) {
    router_type = make_type(m, "_Router", sizeof(RouterObject), 0,
                            {{Py_tp_new, reinterpret_cast<void*>(router_new)},
                             {Py_tp_call, reinterpret_cast<void*>(router_call)},
                             {Py_tp_getattro, reinterpret_cast<void*>(router_getattr)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(router_dealloc)}});
    m.attr("_check_instance") = nb::cpp_function(check_instance, nb::is_method(),
                                                 nb::name("__instancecheck__"), nb::arg("object").none());
    m.attr("_check_subclass") = nb::cpp_function(check_subclass, nb::is_method(),
                                                 nb::name("__subclasscheck__"), nb::arg("kind").none());
    m.def("_set_metaclass", set_metaclass, nb::arg("type"), nb::arg("metaclass"));
}

}  // namespace weft::python
