// Kernels in CUDA C++: what Python gives as their arguments, and RawKernel and RawModule under the classes of
// weft/_kernels/raw.py.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiled/arguments.h"
#include "compiled/linked_parts.h"
#include "compiled/numpy_fields.h"
#include "convert/convert.h"
#include "device/device.h"
#include "engine/gil.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"
#include "weft/cuda/raw_kernel.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

LaunchSize launch_size(nb::handle given, const char* what) {
    // A tuple of plain integers, which it mostly is.
    if (PyTuple_CheckExact(given.ptr())) {
        const Py_ssize_t count = PyTuple_Size(given.ptr());
        std::array<int64_t, 3> sizes{};
        bool is_plain = count >= 1 && count <= 3;
        for (Py_ssize_t axis = 0; is_plain && axis < count; ++axis) {
            PyObject* const size = PyTuple_GetItem(given.ptr(), axis);
            int overflow = 0;
            is_plain = PyLong_CheckExact(size);
            if (is_plain) sizes[static_cast<size_t>(axis)] = PyLong_AsLongLongAndOverflow(size, &overflow);
            is_plain = is_plain && overflow == 0;
        }
        if (is_plain) return LaunchSize(std::span<const int64_t>(sizes.data(), static_cast<size_t>(count)));
    }
    if (PyLong_Check(given.ptr()) || PyIndex_Check(given.ptr()) != 0) return LaunchSize(to_index(given));
    const Dims sizes = to_dims(given);
    if (sizes.empty() || sizes.size() > 3)
        throw ValueError(std::string("a ") + what + " has one to three sizes, not " +
                         std::to_string(sizes.size()));
    return LaunchSize(std::span<const int64_t>(sizes));
}

// The bytes of an object that has them: NumPy's and weft's scalars, structures of NumPy and ctypes.
KernelArgument bytes_of(PyObject* object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
    KernelArgument::Bytes bytes;
    const char* const first = static_cast<const char*>(view.buf);
    bytes.bytes.assign(first, first + view.len);
    PyBuffer_Release(&view);
    if (const nb::object dtype = nb::getattr(nb::handle(object), "dtype", nb::none()); !dtype.is_none()) {
        const std::string name = text_of(nb::getattr(dtype, "name", nb::str("structure")));
        if (const DTypeInfo* info = DType::find(name)) bytes.dtype = DType(info->scalar_type);
        bytes.what = "a value of " + name;
    } else {
        bytes.what = "a value of " +
                     text_of(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))).attr("__name__"));
    }
    return bytes;
}

// The arguments of a launch as the engine takes them; which arrays are others'.
struct Given {
    std::vector<KernelArgument> arguments;
    DeviceBackend* of_others = nullptr;
};

void add(Given& given, PyObject* object, const std::string& kernel) {
    if (is_array(object)) {
        given.arguments.emplace_back(array_of(object));
        return;
    }
    if (object == Py_None) {
        given.arguments.emplace_back(array());
        return;
    }
    if (PyBool_Check(object)) {
        given.arguments.emplace_back(object == Py_True);
        return;
    }
    // Before Python's numbers: NumPy's float64 and complex128 are some.
    if (is_scalar(object) || is_numpy_scalar(object)) {
        given.arguments.push_back(bytes_of(object));
        return;
    }
    if (PyLong_Check(object)) {
        int overflow = 0;
        const long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow == 0) {
            given.arguments.emplace_back(static_cast<int64_t>(small));
            return;
        }
        const unsigned long long large = PyLong_AsUnsignedLongLong(object);
        if (PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            throw OverflowError("argument " + std::to_string(given.arguments.size() + 1) + " of " + kernel +
                                "(): the integer has more than 64 bits");
        }
        given.arguments.emplace_back(static_cast<uint64_t>(large));
        return;
    }
    if (PyFloat_Check(object)) {
        given.arguments.emplace_back(PyFloat_AsDouble(object));
        return;
    }
    if (PyComplex_Check(object)) {
        given.arguments.emplace_back(
            std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
        return;
    }
    if (const nb::object held = nb::getattr(nb::handle(object), "_array", nb::none()); is_array(held.ptr())) {
        given.arguments.emplace_back(array_of(held.ptr()));  // of weft.cuda.to_device
        return;
    }
    if (numpy_memory(object)) {
        given.arguments.emplace_back(
            convert_buffer(object, /*share_memory=*/true));  // on the CPU, which is told
        return;
    }
    if (const nb::object interface = cuda_interface_of(object); !interface.is_none()) {
        const array shared = share_cuda_interface(nb::handle(object), interface);
        given.of_others = &device_of(shared);
        given.arguments.emplace_back(shared);
        return;
    }
    // Memory of a device without a type, such as CuPy's MemoryPointer.
    if (const nb::object address = nb::getattr(nb::handle(object), "ptr", nb::none());
        PyLong_Check(address.ptr())) {
        given.arguments.emplace_back(KernelArgument::Address{nb::cast<uint64_t>(address)});
        return;
    }
    if (PyObject_CheckBuffer(object) != 0) {
        given.arguments.push_back(bytes_of(object));
        return;
    }
    throw TypeError("argument " + std::to_string(given.arguments.size() + 1) + " of " + kernel + "(): " +
                    text_of(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))).attr("__name__")) +
                    " is no array, number, structure or None");
}

Given given_arguments(nb::handle arguments, const std::string& kernel) {
    const nb::object items = steal_or_throw(PySequence_Tuple(arguments.ptr()));
    Given given;
    const Py_ssize_t count = PyTuple_Size(items.ptr());
    given.arguments.reserve(static_cast<size_t>(count));
    for (Py_ssize_t k = 0; k < count; ++k) add(given, PyTuple_GetItem(items.ptr(), k), kernel);
    return given;
}

uint64_t handle_of(nb::handle stream) {
    if (stream.is_none()) return 0;
    return nb::cast<uint64_t>(nb::module_::import_(modules::kCudaArrays).attr("handle_of")(stream));
}

void launch(const RawKernel& kernel, nb::handle grid, nb::handle block, nb::handle arguments,
            int64_t shared_mem, nb::handle stream) {
    const Given given = given_arguments(arguments, kernel.name());
    const LaunchSize blocks = launch_size(grid, "grid"), threads = launch_size(block, "block");
    const uint64_t handle = handle_of(stream);
    const GilRelease release;
    kernel.launch(blocks, threads, given.arguments, shared_mem, handle);
    // What others queue from now on comes after the launch.
    if (given.of_others != nullptr) given.of_others->make_stream_wait(kDefaultStream);
}

nb::dict attributes_of(const RawKernel& kernel, int device) {
    const KernelAttributes found = [&] {
        const GilRelease release;
        return kernel.attributes(device);
    }();
    nb::dict attributes;
    attributes["max_threads_per_block"] = found.max_threads_per_block;
    attributes["shared_size_bytes"] = found.shared_size_bytes;
    attributes["const_size_bytes"] = found.const_size_bytes;
    attributes["local_size_bytes"] = found.local_size_bytes;
    attributes["num_regs"] = found.num_regs;
    attributes["ptx_version"] = found.ptx_version;
    attributes["binary_version"] = found.binary_version;
    attributes["cache_mode_ca"] = found.cache_mode_ca;
    attributes["max_dynamic_shared_size_bytes"] = found.max_dynamic_shared_size_bytes;
    attributes["preferred_shared_memory_carveout"] = found.preferred_shared_memory_carveout;
    return attributes;
}

nb::list parameters_of(const RawKernel& kernel, int device) {
    const std::vector<KernelParameter> found = [&] {
        const GilRelease release;
        return kernel.parameters(device);
    }();
    nb::list parameters;
    for (const KernelParameter& each : found) parameters.append(nb::make_tuple(each.text, each.bytes));
    return parameters;
}

RawModuleOptions options_of(std::vector<std::string> options, std::vector<std::string> name_expressions,
                            const std::string& backend, bool cooperative, std::string name) {
    RawModuleOptions made;
    made.options = std::move(options);
    made.name_expressions = std::move(name_expressions);
    made.compiler = backend == "nvcc" ? CudaCompiler::kNvcc : CudaCompiler::kNvrtc;
    made.cooperative = cooperative;
    made.name = std::move(name);
    return made;
}

}  // namespace

void bind_raw_kernels(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const CompileError& error) {
            set_error_of_source(error);
        }
    });
    nb::class_<RawKernel>(m, "_RawKernel", "What weft.RawKernel is made of.", nb::dynamic_attr())
        .def("__init__",
             [](RawKernel* self, std::string code, std::string name, std::vector<std::string> options,
                std::vector<std::string> name_expressions, const std::string& backend, bool cooperative) {
                 RawModuleOptions all = options_of(std::move(options), std::move(name_expressions), backend,
                                                   cooperative, name + ".cu");
                 new (self) RawKernel(std::move(code), std::move(name), std::move(all));
             })
        .def(nb::init<const RawKernel&>())
        .def("__call__", &launch, nb::arg("grid"), nb::arg("block"), nb::arg("args"), nb::kw_only(),
             nb::arg("shared_mem") = 0, nb::arg("stream") = nb::none(), "Queues the kernel.")
        .def("_compile",
             [](const RawKernel& self, int device) {
                 const GilRelease release;
                 return self.compile(device);
             })
        .def("_attributes", &attributes_of)
        .def("_parameters", &parameters_of)
        .def("_set_most_shared", &RawKernel::set_max_dynamic_shared_size_bytes)
        .def("_set_carveout", &RawKernel::set_preferred_shared_memory_carveout)
        .def(
            "_suggest",
            [](const RawKernel& self, std::optional<int64_t> count, int64_t shared_mem, int device) {
                const GilRelease release;
                return self.suggest(count, shared_mem, device);
            },
            nb::arg("count").none(), nb::arg("shared_mem"), nb::arg("device"))
        .def_prop_ro("name", &RawKernel::name, "The kernel's name, as it was asked for.");
    nb::class_<RawModule>(m, "_RawModule", "What weft.RawModule is made of.")
        .def("_compile",
             [](const RawModule& self, int device) {
                 const GilRelease release;
                 return self.compile(device);
             })
        .def("_function",
             [](const RawModule& self, const std::string& name) {
                 const GilRelease release;
                 return self.get_function(name);
             })
        .def("_global",
             [](const RawModule& self, const std::string& name, int device) {
                 const array found = [&] {
                     const GilRelease release;
                     return self.get_global(name, device);
                 }();
                 return wrap(found);
             })
        .def("_machine_code",
             [](const RawModule& self, int device) {
                 const std::string code = [&] {
                     const GilRelease release;
                     return self.machine_code(device);
                 }();
                 return nb::bytes(code.data(), code.size());
             })
        .def("_function_names", [](const RawModule& self, int device) {
            const GilRelease release;
            return self.function_names(device);
        });
    m.def("_raw_module", [](std::vector<std::string> sources, std::vector<std::string> paths,
                            std::vector<std::string> options, std::vector<std::string> name_expressions,
                            const std::string& backend, bool cooperative, std::string name) {
        RawModuleOptions all = options_of(std::move(options), std::move(name_expressions), backend,
                                          cooperative, std::move(name));
        return paths.empty() ? RawModule(std::move(sources), std::move(all))
                             : RawModule::from_files(std::move(paths), std::move(all));
    });
}

}  // namespace weft::python
