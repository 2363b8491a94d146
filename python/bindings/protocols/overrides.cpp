// Who decides besides weft: operands whose classes override ufuncs (`__array_ufunc__`, `__array_wrap__`) or
// functions (`__array_function__`), and instances of subclasses of ndarray. Here is only the question whether
// there is one; what follows is in weft._protocols.overrides. Arrays and numbers pay a comparison of types.
#include "protocols/overrides.h"
#include "device/devices.h"
#include "fast/fast_table.h"
#include "graph/placement.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"
#include "protocols/by_numpy.h"

// After Python.h, which it does not include itself.
#include <structmember.h>

namespace weft::python {

namespace {

/// Types without attributes of their users, by address: what was found of them stays true.
class StaticTypes {
public:
    bool contains(PyTypeObject* type) const {
        return entries_[Registry::place_of(type)].load(std::memory_order_relaxed) == type;
    }
    void add(PyTypeObject* type) {
        entries_[Registry::place_of(type)].store(type, std::memory_order_relaxed);
    }

private:
    std::array<std::atomic<PyTypeObject*>, Registry::kTableSize> entries_{};
};

bool has_attribute(PyTypeObject* type, const char* name) {
    return PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), name) != 0;
}

inline bool is_known_type(PyTypeObject* type) {
    return type == registry.ndarray || type == &PyFloat_Type || type == &PyLong_Type ||
           type == &PyBool_Type || type == Py_TYPE(Py_None) || type == &PyTuple_Type ||
           type == &PyList_Type || type == &PyUnicode_Type || type == &PyComplex_Type ||
           registry.is_scalar_type(type);
}

/// Whether the attributes of a type give it an override. NumPy's own arrays and scalars have none: weft
/// computes.
template <typename Question>
bool type_has_override(PyTypeObject* type, StaticTypes& without, const Question& question) {
    if (is_known_type(type) || without.contains(type)) return false;
    const bool is_static = (PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) == 0;
    if (is_static) {
        const nb::object module =
            nb::getattr(nb::handle(reinterpret_cast<PyObject*>(type)), "__module__", nb::none());
        const bool is_numpy =
            PyUnicode_Check(module.ptr()) && PyUnicode_CompareWithASCIIString(module.ptr(), "numpy") == 0;
        if (is_numpy || !question(type)) {
            without.add(type);
            return false;
        }
        return true;
    }
    return question(type);
}

bool has_function_override(PyObject* object) {
    static StaticTypes without;
    return type_has_override(Py_TYPE(object), without, [](PyTypeObject* type) {
        PyObject* found = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__array_function__");
        if (found == nullptr) {
            PyErr_Clear();
            return false;
        }
        Py_DECREF(found);
        static PyObject* const own =
            PyObject_GetAttrString(reinterpret_cast<PyObject*>(registry.ndarray), "__array_function__");
        return found != own;
    });
}

enum Kind : int {
    kOrdinary,
    kOfSequences,  // arrays stand in lists and tuples too
    kKeepsType,    // composed of plain arrays; results are made the type of the argument, as NumPy's are
    kUfunc,        // asks as ufuncs do
};

/// A function of the package that arguments may override, as NumPy's functions.
struct DispatcherObject {
    PyObject_HEAD;
    vectorcallfunc call;
    PyObject* function;
    PyObject* dict;
    FastCall fast;     // may be null
    PyObject* method;  // the name of the one that decides in classes that have it; may be null
    int kind;
};

/// Or wraps what the function computes in its place. NumPy's arrays have the methods, too, and no say.
bool has_method(PyTypeObject* type, PyObject* name) {
    if (is_known_type(type) || PyType_IsSubtype(type, registry.ndarray) != 0) return false;
    if ((PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) == 0) {
        static StaticTypes of_numpy;
        if (of_numpy.contains(type)) return false;
        const nb::handle handle(reinterpret_cast<PyObject*>(type));
        if (text_of(nb::getattr(handle, "__module__", nb::str(""))) == "numpy") {
            of_numpy.add(type);
            return false;
        }
    }
    return PyObject_HasAttr(reinterpret_cast<PyObject*>(type), name) != 0 ||
           has_attribute(type, "__array_wrap__");
}

bool any_function_override(const DispatcherObject* self, PyObject* object) {
    PyTypeObject* const type = Py_TYPE(object);
    if (type == registry.ndarray) return false;
    if (self->kind == kUfunc) return has_override(object);
    if (self->kind == kKeepsType && is_array(object)) return true;
    const bool is_list = type == &PyList_Type;
    if (!is_list && type != &PyTuple_Type) return has_function_override(object);
    if (self->kind != kOfSequences) return false;
    const Py_ssize_t count = is_list ? PyList_Size(object) : PyTuple_Size(object);
    for (Py_ssize_t i = 0; i < count; ++i) {
        const nb::object element = element_of(object, is_list, i);
        if (element.is_valid() && has_function_override(element.ptr())) return true;
    }
    return false;
}

inline bool is_nested(const DispatcherObject* self, PyObject* object) {
    return self->kind == kOfSequences &&
           (Py_TYPE(object) == &PyTuple_Type || Py_TYPE(object) == &PyList_Type);
}

/// Where the first array among the arguments is, if another device is the calling thread's: what a function
/// of the package makes besides is to be there, too.
DeviceBackend* other_device(PyObject* const* arguments, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        PyObject* first = arguments[i];
        nb::object element;  // of a tuple or list
        if (const bool is_list = PyList_CheckExact(first) != 0; is_list || PyTuple_CheckExact(first) != 0) {
            if ((is_list ? PyList_Size(first) : PyTuple_Size(first)) == 0) continue;
            element = element_of(first, is_list, 0);
            if (!element.is_valid()) continue;
            first = element.ptr();
        }
        if (!is_array(first)) continue;
        DeviceBackend& device = device_of(array_of(first));
        return &device == &current_device() ? nullptr : &device;
    }
    return nullptr;
}

/// A dispatcher's name as NumPy has it: "linalg.norm", or "sort". Keeps the error that is set.
std::string name_in_numpy(PyObject* dispatcher) {
    nb::python_error error;
    const nb::handle self(dispatcher);
    std::string module = text_of(nb::getattr(self, "__module__", nb::str("")));
    const std::string name = text_of(nb::getattr(self, "__name__", nb::str("")));
    error.restore();
    constexpr std::string_view kPackage = "weft.";
    if (module.starts_with(kPackage)) return module.substr(kPackage.size()) + "." + name;
    return name;
}

/// After an error.
PyObject* by_numpy(PyObject* dispatcher, PyObject* const* arguments, size_t count, PyObject* names) {
    if (!numpy_may_answer()) return nullptr;
    return guarded([&] {
        const std::string name = name_in_numpy(dispatcher);
        return numpy_instead(FailedCall::kFunction, name, arguments, count, names);
    });
}

PyObject* dispatch_here(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names);

PyObject* dispatch(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    if (has_other_devices()) [[unlikely]] {
        const auto positional = static_cast<size_t>(PyVectorcall_NARGS(flags));
        const size_t keywords = names == nullptr ? 0 : static_cast<size_t>(PyTuple_Size(names));
        if (DeviceBackend* const device = other_device(arguments, positional + keywords)) {
            const DeviceScope scope(*device);
            return dispatch_here(object, arguments, flags, names);
        }
    }
    return dispatch_here(object, arguments, flags, names);
}

PyObject* dispatch_here(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    auto* self = reinterpret_cast<DispatcherObject*>(object);
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
    if (self->fast != nullptr && names == nullptr) {
        PyObject* result =
            guarded([&] { return self->fast(nullptr, arguments, static_cast<Py_ssize_t>(count)); });
        if (result != nullptr) return result;
        if (PyErr_Occurred() != nullptr) return by_numpy(object, arguments, count, names);
    }
    const size_t all = count + (names == nullptr ? 0 : static_cast<size_t>(PyTuple_Size(names)));
    bool by_method = false;
    const auto overridden = [&](const char* by) {
        return guarded([&] {
            const auto [positional, keywords] = given_arguments(arguments, count, names);
            return override_function(by)(nb::handle(object), nb::handle(self->function), positional, keywords)
                .release()
                .ptr();
        });
    };
    for (size_t i = 0; i < all; ++i) {
        if (!is_nested(self, arguments[i]) && is_known_type(Py_TYPE(arguments[i]))) [[likely]]
            continue;
        if (any_function_override(self, arguments[i])) {
            PyObject* const result = overridden("function");
            // Of weft's subclasses beside what weft has no arrays of.
            if (result != nullptr || !is_array(arguments[i])) return result;
            return by_numpy(object, arguments, count, names);
        }
        by_method |= self->method != nullptr && has_method(Py_TYPE(arguments[i]), self->method);
    }
    if (by_method) {
        PyObject* const result = overridden("by_method");
        if (result != Py_NotImplemented) return result;
        Py_DECREF(result);
    }
    PyObject* const result = PyObject_Vectorcall(self->function, arguments, flags, names);
    return result != nullptr ? result : by_numpy(object, arguments, count, names);
}

void dispatcher_dealloc(PyObject* object) {
    auto* self = reinterpret_cast<DispatcherObject*>(object);
    Py_XDECREF(self->function);
    Py_XDECREF(self->dict);
    Py_XDECREF(self->method);
    free_object(object);
}

PyObject* dispatcher_get(PyObject* self, PyObject* instance, PyObject*) {
    if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
    return guarded([&] {
        return nb::module_::import_("types")
            .attr("MethodType")(nb::handle(self), nb::handle(instance))
            .release()
            .ptr();
    });
}

bool is_ufunc(PyObject* self) { return reinterpret_cast<DispatcherObject*>(self)->kind == kUfunc; }

PyObject* dispatcher_repr(PyObject* self) {
    return guarded([&] {
        if (is_ufunc(self))
            return nb::str("<ufunc '{}'>").format(nb::handle(self).attr("__qualname__")).release().ptr();
        return nb::str("<function {}>").format(nb::handle(self).attr("__qualname__")).release().ptr();
    });
}

/// NumPy's attributes of ufuncs are looked up when they are asked for.
PyObject* dispatcher_attribute(PyObject* self, PyObject* name) {
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (found != nullptr || !is_ufunc(self) || PyErr_ExceptionMatches(PyExc_AttributeError) == 0)
        return found;
    if (text_of(nb::handle(name)).starts_with("_")) return nullptr;
    PyErr_Clear();
    return guarded([&] {
        return nb::module_::import_(modules::kGeneralised)
            .attr("attribute")(nb::handle(self), nb::handle(name))
            .release()
            .ptr();
    });
}

/// isinstance(np.matmul, np.ufunc) holds.
PyObject* dispatcher_class(PyObject* self, void*) {
    return Py_NewRef(is_ufunc(self) ? reinterpret_cast<PyObject*>(registry.ufunc)
                                    : reinterpret_cast<PyObject*>(Py_TYPE(self)));
}

PyObject* dispatcher_reduce(PyObject* self, PyObject*) {
    return guarded([&] { return nb::object(nb::handle(self).attr("__qualname__")).release().ptr(); });
}

PyMethodDef kMethods[] = {
    {"__reduce__", dispatcher_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef kAttributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__class__", dispatcher_class, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(DispatcherObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(DispatcherObject, dict), READONLY, nullptr},
    {"_kind", T_INT, offsetof(DispatcherObject, kind), READONLY, nullptr},
    {"_implementation", T_OBJECT, offsetof(DispatcherObject, function), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

bool has_override(PyObject* object) {
    static StaticTypes without;
    return type_has_override(Py_TYPE(object), without, [](PyTypeObject* type) {
        return has_attribute(type, "__array_ufunc__") || has_attribute(type, "__array_wrap__");
    });
}

GivenArguments given_arguments(PyObject* const* arguments, size_t count, PyObject* names) {
    nb::list positional;
    nb::dict keywords;
    for (size_t k = 0; k < count; ++k) positional.append(nb::handle(arguments[k]));
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t k = 0; k < named; ++k)
        keywords[nb::handle(PyTuple_GetItem(names, k))] =
            nb::handle(arguments[count + static_cast<size_t>(k)]);
    return {nb::tuple(positional), keywords};
}

nb::object override_function(const char* name) {
    return nb::module_::import_(modules::kOverrides).attr(name);
}

namespace {

/// The types of a list's or tuple's elements, each once. Long sequences have few, so few are compared with.
nb::set element_types(nb::handle sequence) {
    const bool is_list = PyList_Check(sequence.ptr());
    if (!is_list && !PyTuple_Check(sequence.ptr())) throw TypeError("expected a list or a tuple");
    nb::set types;
    PyTypeObject* last = nullptr;
    for (Py_ssize_t i = 0; i < PySequence_Size(sequence.ptr()); ++i) {
        const nb::object element = element_of(sequence.ptr(), is_list, i);
        if (!element.is_valid()) break;
        PyTypeObject* const type = Py_TYPE(element.ptr());
        if (type != last) types.add(nb::handle(reinterpret_cast<PyObject*>(type)));
        last = type;
    }
    return types;
}

}  // namespace

void bind_overrides(nb::module_& m) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
        {Py_tp_dealloc, reinterpret_cast<void*>(dispatcher_dealloc)},
        {Py_tp_descr_get, reinterpret_cast<void*>(dispatcher_get)},
        {Py_tp_getattro, reinterpret_cast<void*>(dispatcher_attribute)},
        {Py_tp_repr, reinterpret_cast<void*>(dispatcher_repr)},
        {Py_tp_methods, kMethods},
        {Py_tp_getset, kAttributes},
        {Py_tp_members, kMembers},
    };
    static PyTypeObject* const type =
        make_type(m, "_Dispatcher", sizeof(DispatcherObject),
                  Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots);
    m.def("_element_types", element_types, arg("sequence"));
    m.def("_lends_memory", [](nb::handle object) { return lends_memory(object.ptr()); }, arg("object"));
    m.def(
        "_dispatcher",
        [](nb::handle function, int kind, const std::string& name, nb::handle method) {
            auto* object = allocate<DispatcherObject>(type);
            object->call = dispatch;
            object->function = Py_NewRef(function.ptr());
            object->dict = nullptr;
            object->fast = fast_function(name);
            object->method = method.is_none() ? nullptr : Py_NewRef(method.ptr());
            object->kind = kind;
            return nb::steal(reinterpret_cast<PyObject*>(object));
        },
        arg("function"), arg("kind"), arg("name"), arg("method") = nb::none());
}

}  // namespace weft::python
