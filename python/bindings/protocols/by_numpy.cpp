#include "protocols/by_numpy.h"

#include <nanobind/stl/string_view.h>

#include "engine/errors.h"
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

}  // namespace weft::python
