// C++ exceptions to Python's. The types that Python has no match for are in weft.exceptions.
#include "weft/errors.h"

#include <exception>
#include <new>

#include "core/memory/allocation_failure.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"

namespace weft::python {

namespace {

/// A type of weft.exceptions, or TypeError and its kin; borrowed for as long as the process lives.
PyObject* python_type(ErrorKind kind) {
    const char* name = nullptr;
    switch (kind) {
        case ErrorKind::kTypeError: return PyExc_TypeError;
        case ErrorKind::kValueError: return PyExc_ValueError;
        case ErrorKind::kIndexError: return PyExc_IndexError;
        case ErrorKind::kOverflowError: return PyExc_OverflowError;
        case ErrorKind::kZeroDivisionError: return PyExc_ZeroDivisionError;
        case ErrorKind::kAttributeError: return PyExc_AttributeError;
        case ErrorKind::kBufferError: return PyExc_BufferError;
        case ErrorKind::kNotImplementedError: return PyExc_NotImplementedError;
        case ErrorKind::kRuntimeError: return PyExc_RuntimeError;
        case ErrorKind::kUFuncTypeError: name = "UFuncTypeError"; break;
        case ErrorKind::kAxisError: name = "AxisError"; break;
        case ErrorKind::kLinAlgError: name = "LinAlgError"; break;
        case ErrorKind::kOutOfMemoryError: name = "OutOfMemoryError"; break;
        case ErrorKind::kDeviceError: name = "DeviceError"; break;
        case ErrorKind::kInternalError: name = "InternalError"; break;
    }
    static PyObject* exceptions = PyImport_ImportModule(modules::kExceptions);
    if (exceptions == nullptr) return nullptr;
    PyObject* type = PyObject_GetAttrString(exceptions, name);
    Py_XDECREF(type);  // the module keeps it
    return type;
}

void set_error(ErrorKind kind, const char* message) {
    if (PyObject* type = python_type(kind)) PyErr_SetString(type, message);
}

void set_out_of_memory(const std::bad_alloc& error) {
    if (dynamic_cast<const AllocationFailure*>(&error) != nullptr)
        return set_error(ErrorKind::kOutOfMemoryError, error.what());
    // Of a library that does not say how much it asked for.
    set_error(ErrorKind::kOutOfMemoryError, AllocationFailure(0).what());
}

}  // namespace

void set_python_error() noexcept {
    try {
        throw;
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const Error& error) {
        set_error(error.kind(), error.what());
    } catch (const nb::builtin_exception& error) {
        set_error(ErrorKind::kTypeError, error.what());
    } catch (const std::bad_alloc& error) {
        set_out_of_memory(error);
    } catch (const std::length_error& error) {  // of a container, for more than it can ever hold
        set_error(ErrorKind::kOutOfMemoryError, error.what());
    } catch (const std::exception& error) {
        set_error(ErrorKind::kInternalError, error.what());
    } catch (...) {
        set_error(ErrorKind::kInternalError, "internal error: an exception of no known type");
    }
}

void bind_errors(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const Error& error) {
            set_error(error.kind(), error.what());
        } catch (const std::bad_alloc& error) {
            set_out_of_memory(error);
        }
    });
}

}  // namespace weft::python
