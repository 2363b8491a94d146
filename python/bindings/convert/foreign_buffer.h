// Buffers of other objects, which are held for as long as arrays are over their memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "objects/objects.h"

namespace weft::python {

/// How messages name an object.
std::string type_name(PyObject* object);

/// A buffer of an object with the buffer protocol. Goes back where its last owner is gone, on whichever
/// thread that is.
class HeldBuffer {
public:
    /// Throws the exporter's error.
    static std::shared_ptr<const HeldBuffer> of(PyObject* object, int flags);

    ~HeldBuffer();
    HeldBuffer(const HeldBuffer&) = delete;
    HeldBuffer& operator=(const HeldBuffer&) = delete;

    const Py_buffer& view() const { return view_; }

private:
    HeldBuffer(PyObject* object, int flags);

    Py_buffer view_{};
};

/// The element type that a buffer's format names; nothing where weft has none or its bytes are in the other
/// order.
std::optional<DType> native_format(const char* format, Py_ssize_t itemsize);

/// The array over a buffer's memory that has this layout and keeps it.
array share_buffer(const std::shared_ptr<const HeldBuffer>& buffer, DType dtype, const Dims& shape,
                   const Dims& strides);

}  // namespace weft::python
