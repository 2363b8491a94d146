#include "protocols/by_numpy.h"

#include <nanobind/stl/string_view.h>

#include <structmember.h>

#include "engine/errors.h"
#include "engine/numpy_version.h"
#include "objects/objects.h"
#include "package.h"
#include "protocols/overrides.h"

namespace weft::python {

namespace {

const char* name_of(FailedCall kind) {
    switch (kind) {
        case FailedCall::kFunction: return "function";
        case FailedCall::kUfunc: return "ufunc";
        case FailedCall::kMethod: return "method";
        case FailedCall::kDtype: return "dtype";
    }
    return "";
}

/// The base of HostArray (host_arrays.py), which lends the memory of the array that it holds.
struct HostMemoryObject {
    PyObject_HEAD;
    PyObject* array;  // NumPy's; null until HostArray sets it
};

int host_memory_get_buffer(PyObject* self, Py_buffer* view, int flags) {
    return guarded_number([&]() -> int {
        PyObject* const array = reinterpret_cast<HostMemoryObject*>(self)->array;
        view->obj = nullptr;
        // NumPy does not read its own buffers of structures that have objects among their fields.
        const nb::object dtype = array == nullptr ? nb::none() : nb::handle(array).attr("dtype");
        if (dtype.is_none() || (!dtype.attr("names").is_none() && nb::cast<bool>(dtype.attr("hasobject")))) {
            PyErr_SetString(PyExc_BufferError, "structures with objects are not lent as a buffer");
            return -1;
        }
        return PyObject_GetBuffer(array, view, flags);
    });
}

void host_memory_dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    Py_CLEAR(reinterpret_cast<HostMemoryObject*>(self)->array);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyMemberDef kHostMemoryMembers[] = {
    {"_array", T_OBJECT_EX, offsetof(HostMemoryObject, array), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

PyObject* numpy_instead(FailedCall kind, std::string_view name, PyObject* const* arguments, size_t positional,
                        PyObject* names) {
    if (!numpy_may_answer()) return nullptr;
    nb::python_error error;  // takes it
    return guarded([&]() -> PyObject* {
        const auto [given, keywords] = given_arguments(arguments, positional, names);
        const nb::object result = nb::module_::import_(modules::kByNumpy)
                                      .attr("instead")(name, name_of(kind), given, keywords, error.value());
        if (result.ptr() != Py_NotImplemented) return nb::object(result).release().ptr();
        error.restore();
        return nullptr;
    });
}

bool assign_by_numpy(PyObject* array, PyObject* key, PyObject* value) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return false;
    nb::python_error error;  // takes it
    return guarded_number([&]() -> int {
               const nb::object result =
                   nb::module_::import_(modules::kByNumpy)
                       .attr("assign")(nb::handle(array), nb::handle(key), nb::handle(value));
               if (result.ptr() != Py_NotImplemented) return 0;
               error.restore();
               return -1;
           }) == 0;
}

void bind_host_memory(nb::module_& m) {
    registry.host_memory = make_type(m, "_HostMemory", sizeof(HostMemoryObject),
                                     Py_TPFLAGS_BASETYPE | (is_numpy_2_5() ? Py_TPFLAGS_SEQUENCE : 0),
                                     {{Py_tp_members, kHostMemoryMembers},
                                      {Py_bf_getbuffer, reinterpret_cast<void*>(host_memory_get_buffer)},
                                      {Py_tp_dealloc, reinterpret_cast<void*>(host_memory_dealloc)}});
}

}  // namespace weft::python
