// A random stream as Python's objects hold it: where the bits come from, and the lock that is held while
// somebody draws.
#pragma once

#include "api/random/distribution.h"
#include "convert/convert.h"
#include "module.h"
#include "random/bit_stream.h"

namespace weft::python {

struct StreamHandle {
    nb::object capsule;  // "BitGenerator", as NumPy's C interface names it; it owns what it points to
    nb::object acquire, release;
    BitSource* source = nullptr;
    SpareNormal own_spare;  // of RandomState
    SpareNormal* spare = &own_spare;

    StreamHandle(nb::object of, nb::handle lock)
        : capsule(std::move(of)), acquire(lock.attr("acquire")), release(lock.attr("release")) {
        source = static_cast<BitSource*>(PyCapsule_GetPointer(capsule.ptr(), "BitGenerator"));
        if (source == nullptr) throw_python_error();
    }
    StreamHandle(const StreamHandle&) = delete;
    StreamHandle& operator=(const StreamHandle&) = delete;
    Draws draws() { return {*source, spare}; }
};

/// Holds the lock of a stream.
class StreamLock {
public:
    explicit StreamLock(StreamHandle& handle) : handle_(handle) {
        const nb::object held = steal_or_throw(PyObject_CallNoArgs(handle.acquire.ptr()));
    }
    StreamLock(const StreamLock&) = delete;
    StreamLock& operator=(const StreamLock&) = delete;
    ~StreamLock() {
        PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
        PyErr_Fetch(&type, &value, &trace);
        PyObject* released = PyObject_CallNoArgs(handle_.release.ptr());
        if (released == nullptr) PyErr_Clear();
        Py_XDECREF(released);
        PyErr_Restore(type, value, trace);
    }

private:
    StreamHandle& handle_;
};

}  // namespace weft::python
