// Calls that failed because of a dtype that weft leaves to NumPy (objects, strings, dates, structures):
// NumPy's answer instead of the error. What decides and converts is weft._protocols.by_numpy; nothing here
// runs unless a call has failed.
#pragma once

#include "module.h"

namespace weft::python {

enum class FailedCall : uint8_t { kFunction, kUfunc, kMethod, kDtype };

/// Whether the error that is set is of a kind that NumPy may answer instead of.
inline bool numpy_may_answer() {
    return PyErr_ExceptionMatches(PyExc_TypeError) != 0 || PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
}

/// NumPy's result of a call that has set an error; null, with that error or NumPy's, where there is none.
/// Arguments are as in a vectorcall; those of a method begin with the array.
PyObject* numpy_instead(FailedCall kind, std::string_view name, PyObject* const* arguments, size_t positional,
                        PyObject* names);

/// array[key] = value after a TypeError, where the value has a dtype that weft has not; false with an error
/// set.
bool assign_by_numpy(PyObject* array, PyObject* key, PyObject* value);

}  // namespace weft::python
