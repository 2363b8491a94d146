// Arrays as arguments of CUDA-style kernels on a GPU: weft's own and those of other libraries where they are,
// arrays of the CPU as copies, which are copied back where the kernel writes them.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/recording/kernel_launch.h"
#include "module.h"
#include "weft/array.h"

namespace weft::python {

class GpuArrays {
public:
    explicit GpuArrays(DeviceBackend& device) : device_(device) {}
    GpuArrays(const GpuArrays&) = delete;
    GpuArrays& operator=(const GpuArrays&) = delete;

    DeviceBackend& device() const { return device_; }

    /// The array that stands for an argument on the device; null where it is none. Throws ValueError for one
    /// of another GPU.
    struct Taken {
        LaunchArgument argument;
        size_t parameter;
        PyObject* object;  // borrowed
        array host;        // of which it is a copy, or none
        bool writeable = true, foreign = false;
        nb::object kept{};
        bool is_structures = false;  // `argument` has their bytes
    };
    const Taken* take(PyObject* object, size_t parameter);

    /// The same for an array of structures, whose bytes are copied, or one of them; where its memory is.
    char* take_structures(PyObject* object, size_t parameter);

    /// In the launch's turn: what it writes is poisoned until it is known whether it fails.
    void note(const std::vector<bool>& written, int64_t number, LaunchErrorThrower thrower);
    /// Behind it: what it writes is copied to where it belongs.
    void finish(const std::string& kernel, const std::vector<bool>& written);

private:
    void record_copies(const std::string& kernel) const;
    const Taken* add(const array& value, PyObject* object, size_t parameter, bool foreign);

    DeviceBackend& device_;
    int64_t bytes_in_ = 0, bytes_out_ = 0;
    // Few arguments need no memory but the call's own: a launch takes about a microsecond.
    std::array<std::byte, 2048> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    std::pmr::list<Taken> taken_{&memory_};  // whose addresses stay
};

/// Where a kernel with these arguments runs: on the GPU that one of them is on, or on the current device.
DeviceBackend& device_of_launch(std::span<PyObject* const> arguments);

}  // namespace weft::python
