// Memory exported to others, and memory of others.
#pragma once

#include <optional>

#include "objects/objects.h"

namespace weft::python {

void add_array_buffer_slots(std::vector<PyType_Slot>& slots);
void add_scalar_buffer_slots(std::vector<PyType_Slot>& slots);

/// The pin of an array whose memory is exported for as long as the object lives.
MemoryPin& exported_memory(PyObject* self);
PyObject* get_cuda_interface(PyObject* self, void*);
PyObject* get_array_interface(PyObject* self, void*);
PyObject* get_array_struct(PyObject* self, void*);
/// ndarray(shape, dtype, buffer, offset, strides, order) over the bytes of a buffer.
nb::object wrap_buffer(PyTypeObject* type, nb::handle buffer, DType dtype, const Dims& shape,
                       const std::optional<Dims>& strides, int64_t offset, char order);
/// Throws where elements would lie outside of `bytes` bytes.
void check_strides(const Dims& shape, const Dims& strides, int64_t itemsize, int64_t bytes, int64_t offset);

/// What `object` says as __cuda_array_interface__, None if it has none.
nb::object cuda_interface_of(PyObject* object);
/// An array over the memory that `object` described so.
array share_cuda_interface(nb::handle object, nb::handle description);

}  // namespace weft::python
