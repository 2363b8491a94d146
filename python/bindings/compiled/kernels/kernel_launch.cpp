// A CUDA-style kernel with its grid and block, `kernel[grid, block]`, as a callable: a call finds where its
// arrays are, and runs the kernel there. What is rare, the package does (weft/cuda/_kernel.py).
#include <nanobind/nanobind.h>

// after Python.h
#include <structmember.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "api/recording/kernel_launch.h"
#include "compiled/device_structures.h"
#include "compiled/dispatcher.h"
#include "compiled/kernels/gpu_arrays.h"
#include "compiled/kernels/gpu_launch.h"
#include "device/device.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

constexpr size_t kOwn = 3;  // arguments of a launcher before the kernel's: grid, block, bytes

struct LaunchObject {
    PyObject_HEAD;
    vectorcallfunc call;
    PyObject* kernel;
    PyObject* sizes[kOwn];
    PyObject* on_cpu;  // the launchers; null up to their first use
    PyObject* on_gpu;
    PyObject* device_array;  // the type; classes of it are taken as it is
    Py_ssize_t count;        // of the kernel's arguments; -1: the package prepares them
    bool checks;
    uint64_t stream;  // of another library, or 0
    LaunchPlan* plan;
};

LaunchObject* self_of(PyObject* object) { return reinterpret_cast<LaunchObject*>(object); }

PyTypeObject* launch_type = nullptr;

PyObject* launcher_on_gpu(LaunchObject* self) {
    if (self->on_gpu == nullptr)
        self->on_gpu = steal_or_throw(PyObject_GetAttrString(self->kernel, "_gpu_launcher")).release().ptr();
    return self->on_gpu;
}

// Which may be for blocks of these sizes alone.
PyObject* launcher_on_cpu(LaunchObject* self) {
    if (self->on_cpu == nullptr)
        self->on_cpu =
            nb::handle(self->kernel).attr("_launcher_for")(nb::handle(self->sizes[1])).release().ptr();
    return self->on_cpu;
}

// The arguments of a launcher, which `owned` keeps where the call does not.
class LaunchArguments {
public:
    LaunchArguments(const LaunchObject& self, PyObject* const* given, size_t count) {
        objects_.reserve(kOwn + count);
        objects_.assign(std::begin(self.sizes), std::end(self.sizes));
        static PyObject* const name = PyUnicode_InternFromString("_array");
        auto* const device_array = reinterpret_cast<PyTypeObject*>(self.device_array);
        for (size_t i = 0; i < count; ++i) {
            PyObject* object = given[i];
            if (PyType_IsSubtype(Py_TYPE(object), device_array) != 0) {
                owned_.push_back(steal_or_throw(PyObject_GetAttr(object, name)));
                object = owned_.back().ptr();
            }
            objects_.push_back(object);
        }
    }
    std::span<PyObject* const> all() const { return objects_; }
    std::span<PyObject* const> own() const { return std::span(objects_).subspan(kOwn); }

private:
    std::array<std::byte, 512> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    std::pmr::vector<PyObject*> objects_{&memory_};
    std::vector<nb::object> owned_;
};

// At each launch: a program may ask for some of its kernels only.
bool is_asked_to_check() {
    const char* const text = std::getenv("WEFT_CUDA_CHECK");
    return text != nullptr && *text != '\0' && std::string_view(text) != "0";
}

void run(LaunchObject* self, PyObject* const* given, size_t count) {
    const LaunchArguments arguments(*self, given, count);
    const auto call = [&](PyObject* callee) {
        const nb::object result = steal_or_throw(
            PyObject_Vectorcall(callee, arguments.all().data(), arguments.all().size(), nullptr));
    };
    if (self->checks || is_asked_to_check()) {
        const nb::object checking = nb::handle(self->kernel).attr("_checking_launcher");
        return call(checking.ptr());
    }
    if (DeviceBackend& device = device_of_launch(arguments.own()); !device.is_cpu()) {
        if (self->stream != 0) device.wait_for_stream(self->stream);
        const nb::object refusal =
            launch_on_gpu(checked_jit_function(launcher_on_gpu(self)), arguments.all(), *self->plan);
        if (self->stream != 0) device.make_stream_wait(self->stream);
        if (refusal.is_none()) return;
        nb::setattr(self->kernel, "_refusal", refusal);
    }
    call(launcher_on_cpu(self));
}

PyObject* call(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    return guarded([&]() -> PyObject* {
        LaunchObject* const self = self_of(object);
        if (names != nullptr && PyTuple_Size(names) > 0)
            throw TypeError("a kernel takes its arguments by their places");
        try {
            if (count == self->count) [[likely]] {
                run(self, arguments, static_cast<size_t>(count));
                return Py_NewRef(Py_None);
            }
            nb::object given = steal_or_throw(PyTuple_New(count));
            for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(given.ptr(), i, Py_NewRef(arguments[i]));
            const nb::object prepared = nb::handle(self->kernel).attr("_prepared")(given);
            std::vector<PyObject*> objects;
            for (Py_ssize_t i = 0; i < PyTuple_Size(prepared.ptr()); ++i)
                objects.push_back(PyTuple_GetItem(prepared.ptr(), i));
            run(self, objects.data(), objects.size());
            return Py_NewRef(Py_None);
        } catch (const lang::CompileError& error) {
            set_error_of_compilation(error);
            return nullptr;
        }
    });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    LaunchObject* const self = self_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->kernel);
    for (PyObject* each : self->sizes) Py_VISIT(each);
    Py_VISIT(self->on_cpu);
    Py_VISIT(self->on_gpu);
    Py_VISIT(self->device_array);
    return 0;
}

int clear(PyObject* object) {
    LaunchObject* const self = self_of(object);
    Py_CLEAR(self->kernel);
    for (PyObject*& each : self->sizes) Py_CLEAR(each);
    Py_CLEAR(self->on_cpu);
    Py_CLEAR(self->on_gpu);
    Py_CLEAR(self->device_array);
    return 0;
}

void dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    clear(object);
    delete self_of(object)->plan;
    PyTypeObject* const type = Py_TYPE(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(LaunchObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

void bind_kernel_launches(nb::module_& m) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
        {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(clear)},
        {Py_tp_members, kMembers},
    };
    launch_type =
        make_type(m, "KernelLaunch", sizeof(LaunchObject),
                  Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC, slots);
    m.def(
        "_kernel_launch",
        [](nb::handle kernel, nb::handle grid, nb::handle block, nb::handle bytes, nb::handle device_array,
           Py_ssize_t count, bool checks, uint64_t stream) {
            auto* const object = PyObject_GC_New(LaunchObject, launch_type);
            if (object == nullptr) throw_python_error();
            object->call = call;
            object->kernel = Py_NewRef(kernel.ptr());
            const nb::handle sizes[] = {grid, block, bytes};
            for (size_t i = 0; i < kOwn; ++i) object->sizes[i] = Py_NewRef(sizes[i].ptr());
            object->on_cpu = object->on_gpu = nullptr;
            object->device_array = Py_NewRef(device_array.ptr());
            object->count = count;
            object->checks = checks;
            object->stream = stream;
            object->plan = new LaunchPlan;
            PyObject_GC_Track(object);
            return nb::steal(reinterpret_cast<PyObject*>(object));
        },
        nb::arg("kernel"), nb::arg("grid"), nb::arg("block"), nb::arg("bytes"), nb::arg("device_array"),
        nb::arg("count"), nb::arg("checks"), nb::arg("stream"));
    m.def("_set_device_records", [](nb::handle type) { set_device_structures(type); });
    m.def("_launches_on_gpu", [] { return !device_of_launch({}).is_cpu(); });
    m.def("_finish_printing", finish_printing);
    m.def("_finish_launches", [] {
        const GilRelease release;
        finish_launches();
    });
}

}  // namespace weft::python
