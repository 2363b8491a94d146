// How errors cross between C++ and Python.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include "engine/gil.h"

namespace weft::python {

/// Turns the C++ exception being handled into a Python error.
void set_python_error() noexcept;

template <typename Function>
PyObject* guarded(Function&& function) noexcept {
    try {
        return function();
    } catch (const abi::__forced_unwind&) {
        stop_for_ever();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

/// For slots that answer with a number: -1 is the error.
template <typename Function>
auto guarded_number(Function&& function) noexcept -> decltype(function()) {
    try {
        return function();
    } catch (const abi::__forced_unwind&) {
        stop_for_ever();
    } catch (...) {
        set_python_error();
        return -1;
    }
}

/// For long loops that hold the GIL: lets signal handlers run now and then.
class SignalChecks {
public:
    void next_iteration() {
        constexpr uint32_t kIterations = 1 << 16;
        if (++iterations_ % kIterations == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    }

private:
    uint32_t iterations_ = 0;
};

/// Throws the Python error that is set.
[[noreturn]] inline void throw_python_error() {
    if (PyErr_Occurred() == nullptr)  // another's code failed and did not say how
        PyErr_SetString(PyExc_SystemError, "a call failed without an exception");
    throw nb::python_error();
}

inline nb::object steal_or_throw(PyObject* object) {
    if (object == nullptr) throw_python_error();
    return nb::steal(object);
}

inline PyObject* not_implemented() {
    Py_INCREF(Py_NotImplemented);
    return Py_NotImplemented;
}

}  // namespace weft::python
