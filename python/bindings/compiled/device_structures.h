// Arrays of structures in memory of weft's, on a GPU: weft.cuda's class of such, which has their bytes as an
// array of weft's (weft/cuda/_records.py).
#pragma once

#include <cstdint>
#include <optional>

#include "compiled/layouts.h"
#include "module.h"
#include "weft/array.h"

namespace weft::python {

struct DeviceStructures {
    Structures structures;  // without data
    array bytes;
    int64_t place;  // of the first structure among the bytes
};
/// Nothing where `object` is none of that class.
std::optional<DeviceStructures> device_structures_of(PyObject* object);
bool is_device_structures(PyObject* object);
/// Which class it is.
void set_device_structures(nb::handle type);

}  // namespace weft::python
