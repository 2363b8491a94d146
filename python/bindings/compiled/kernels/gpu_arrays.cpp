#include "compiled/kernels/gpu_arrays.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/recording/transfer.h"
#include "compiled/arguments.h"
#include "compiled/device_structures.h"
#include "compiled/layouts.h"
#include "compiled/numpy_fields.h"
#include "convert/convert.h"
#include "device/devices.h"
#include "execution/kernels/kernel_store.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "lang/structures/alignment.h"
#include "objects/objects.h"
#include "weft/errors.h"
#include "weft/ops.h"

namespace weft::python {

namespace {

// Of an array of another library that is on a GPU.
nb::object foreign_interface(PyObject* object) {
    if (PyType_Check(object) || PyLong_Check(object) || PyFloat_Check(object) || PyTuple_Check(object) ||
        object == Py_None || numpy_memory(object))
        return nb::none();
    return cuda_interface_of(object);
}

}  // namespace

DeviceBackend& device_of_launch(std::span<PyObject* const> arguments) {
    for (PyObject* object : arguments) {
        if (is_array(object)) {
            DeviceBackend& device = device_of(array_of(object));
            if (!device.is_cpu()) return device;
        } else if (const std::optional<DeviceStructures> records = device_structures_of(object)) {
            DeviceBackend& device = device_of(records->bytes);
            if (!device.is_cpu()) return device;
        } else if (const nb::object interface = foreign_interface(object); !interface.is_none()) {
            return device_of(share_cuda_interface(nb::handle(object), interface));
        }
    }
    return current_device();
}

const GpuArrays::Taken* GpuArrays::take(PyObject* object, size_t parameter) {
    for (const Taken& taken : taken_) {
        // One copy, whatever is written into it.
        if (taken.object == object) return taken.is_structures ? nullptr : &taken;
    }
    if (is_array(object)) return add(array_of(object), object, parameter, false);
    if (is_device_structures(object) || structures_of(object)) return nullptr;
    if (numpy_memory(object))
        return add(convert_buffer(object, /*share_memory=*/true), object, parameter, false);
    if (const nb::object interface = foreign_interface(object); !interface.is_none())
        return add(share_cuda_interface(nb::handle(object), interface), object, parameter, true);
    if (PyObject_CheckBuffer(object) != 0 && !is_numpy_scalar(object))
        return add(convert_buffer(object, /*share_memory=*/true), object, parameter, false);
    return nullptr;
}

char* GpuArrays::take_structures(PyObject* object, size_t parameter) {
    if (const std::optional<DeviceStructures> records = device_structures_of(object)) {
        int64_t places = records->place;
        for (const int64_t stride : records->structures.strides) places |= stride;
        if (const int64_t needed = lang::alignment_of(*records->structures.layout); places % needed != 0)
            throw ValueError("structures begin, or step, at an address that is no multiple of " +
                             std::to_string(needed) +
                             " bytes, where GPUs cannot read their fields: give a copy");
        const Taken* taken = add(records->bytes, object, parameter, false);
        taken_.back().is_structures = true;
        return reinterpret_cast<char*>(taken->argument.address()) + records->place;
    }
    const auto known = std::find_if(taken_.begin(), taken_.end(),
                                    [&](const Taken& taken) { return taken.object == object; });
    if (known != taken_.end()) return reinterpret_cast<char*>(known->argument.address());
    const nb::object held =
        is_host_array(object) ? nb::object(nb::handle(object).attr("_array")) : nb::borrow(object);
    const nb::object numpy = nb::module_::import_("numpy");
    nb::object bytes;
    if (numpy_memory(held.ptr())) {
        if (!nb::cast<bool>(held.attr("flags").attr("c_contiguous")))
            throw NotImplementedError(
                "arrays of structures with gaps cannot be arguments of kernels on GPUs");
        bytes = held.attr("reshape")(-1).attr("view")("u1");
    } else {
        bytes = numpy.attr("frombuffer")(held, "u1");
    }
    const Taken* taken = add(convert_buffer(bytes.ptr(), /*share_memory=*/true), object, parameter, false);
    taken_.back().kept = bytes;
    taken_.back().is_structures = true;
    return reinterpret_cast<char*>(taken->argument.address());
}

const GpuArrays::Taken* GpuArrays::add(const array& value, PyObject* object, size_t parameter, bool foreign) {
    DeviceBackend& place = device_of(value);
    if (!place.is_cpu() && &place != &device_)
        throw ValueError("arrays of one kernel are on " + device_.name() + " and on " + place.name() +
                         ": move one with x.to_device(...)");
    array there = value, host;
    if (place.is_cpu()) {
        host = value;
        bytes_in_ += value.nbytes();
        there = move_to(value, device_);
    }
    const ReleaseGil release(!evaluated(there));
    taken_.push_back({LaunchArgument(there), parameter, object, host, value.writeable(), foreign});
    return &taken_.back();
}

void GpuArrays::note(const std::vector<bool>& written, int64_t number, LaunchErrorThrower thrower) {
    std::pmr::vector<const Buffer*> read(&memory_);
    std::pmr::vector<Buffer*> outputs(&memory_);
    read.reserve(taken_.size());
    outputs.reserve(taken_.size());
    for (const Taken& taken : taken_) {
        read.push_back(taken.argument.buffer().get());
        const bool writes = taken.parameter < written.size() && written[taken.parameter];
        if (writes && !taken.host.valid()) outputs.push_back(taken.argument.buffer().get());
    }
    note_launch(device_, number, read, outputs, std::move(thrower));
}

void GpuArrays::finish(const std::string& kernel, const std::vector<bool>& written) {
    std::vector<const Taken*> copies;
    bool others = false;
    for (const Taken& taken : taken_) {
        others |= taken.foreign;
        if (!taken.host.valid() || taken.parameter >= written.size() || !written[taken.parameter]) continue;
        copies.push_back(&taken);
        bytes_out_ += taken.host.nbytes();
    }
    record_copies(kernel);
    // What others queue from now on comes after the launch.
    if (others) device_.make_stream_wait(kDefaultStream);
    if (copies.empty()) return;
    {
        const GilRelease release;
        for (const Taken* taken : copies)
            assign(taken->host, move_to(taken->argument.value(), taken->host.storage()->device));
    }
    finish_launches();
}

void GpuArrays::record_copies(const std::string& kernel) const {
    if (bytes_in_ == 0) return;
    LaunchRecord record;
    record.device = &device_;
    record.bytes_read = bytes_in_;
    record.bytes_written = bytes_out_;
    auto copies = std::make_shared<StoredKernel>();  // none, so that nothing counts as compiled
    copies->name = "copies of the arguments of " + kernel + "()";
    record.kernel = std::move(copies);
    record_launch(std::move(record));
}

}  // namespace weft::python
