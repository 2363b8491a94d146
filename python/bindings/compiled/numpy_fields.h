// NumPy's arrays as their structure says, which takes a tenth of the time of the buffer protocol. NumPy's
// header is not needed: the structure's beginning is part of NumPy's ABI, which has been the same since
// NumPy 1.0 (NumPy's C-API reference, PyArrayObject and PyArray_Descr), and the first array that is seen is
// compared with its buffer.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <span>

#include "weft/dtype.h"

namespace weft::python {

struct NumpyFields {
    ScalarType type;
    char* data;
    std::span<const int64_t> shape, strides;  // strides in bytes
    bool writeable;
};

/// Nothing where the object is no array of NumPy's own class, or its elements are none that weft has, in this
/// byte order. What is returned is valid for as long as the array is neither freed nor resized.
std::optional<NumpyFields> numpy_fields(PyObject* object);

/// An array of NumPy's or of a class that is derived from it, whatever it has in it.
struct NumpyMemory {
    PyObject* dtype;  // borrowed
    char* data;
    std::span<const int64_t> shape, strides;
    bool writeable;
};
std::optional<NumpyMemory> numpy_memory(PyObject* object);

}  // namespace weft::python
