#include "compiled/device_structures.h"

#include "compiled/numpy_fields.h"
#include "objects/objects.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

PyTypeObject* records_type = nullptr;  // null before the package has made it

}  // namespace

bool is_device_structures(PyObject* object) { return Py_TYPE(object) == records_type; }

std::optional<DeviceStructures> device_structures_of(PyObject* object) {
    if (!is_device_structures(object)) return std::nullopt;
    const nb::handle records(object);
    const nb::object frame = records.attr("frame"), bytes = records.attr("bytes");  // which it keeps
    const std::optional<NumpyMemory> memory = numpy_memory(frame.ptr());
    const lang::Layout* const layout = memory ? layout_of(memory->dtype) : nullptr;
    if (layout == nullptr || !is_array(bytes.ptr()))
        throw TypeError("structures on a GPU whose frame is no array of structures");
    const auto start = nb::cast<uintptr_t>(records.attr("start"));
    const auto place = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory->data) - start);
    return DeviceStructures{
        {layout, nullptr, memory->shape, memory->strides, true, false}, array_of(bytes.ptr()), place};
}

void set_device_structures(nb::handle type) {
    records_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());  // for the life of the process
}

}  // namespace weft::python
