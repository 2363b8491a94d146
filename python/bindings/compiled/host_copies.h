// Arrays on a GPU as arguments of compiled functions, which run on the CPU: their elements are copied to it,
// and back where the function writes them. weft.kernel_history() has a record of each such call, with its
// bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "module.h"
#include "weft/array.h"

namespace weft {
class DeviceBackend;
}

namespace weft::python {

/// Two arrays share memory of a GPU: the call has to begin again with copies of whole storages.
struct SharesStorage {};

class HostCopies {
public:
    explicit HostCopies(bool whole_storages) : whole_storages_(whole_storages) {}

    bool empty() const { return copies_.empty(); }

    /// The same elements on the CPU. Throws SharesStorage.
    array add(const array& given, PyObject* object, size_t parameter);
    /// Names the Python object of the last one added.
    void set_object(nb::object object) { copies_.back().host_object = std::move(object); }
    /// Behind a call: what the function has written goes to where it belongs.
    void copy_back(const std::vector<bool>& written);
    /// Whether it is the object of a copy.
    bool contains(PyObject* host_object) const;
    /// A result on the device of the arguments: an argument itself where it is that one's copy.
    nb::object on_device(nb::object result);
    /// Counts the bytes that were copied as those of a fallback.
    void record();

private:
    struct Copy {
        array given, host;  // of the whole storage or of the view
        PyObject* object;   // borrowed
        nb::object host_object{};
        size_t parameter;
    };

    const bool whole_storages_;
    DeviceBackend* device_ = nullptr;  // of the first one
    int64_t bytes_ = 0;
    std::vector<Copy> copies_;
};

}  // namespace weft::python
