#include "compiled/host_copies.h"

#include <algorithm>
#include <utility>

#include "api/recording/transfer.h"
#include "convert/convert.h"
#include "device/devices.h"
#include "execution/fallback.h"
#include "graph/storage.h"
#include "objects/objects.h"
#include "weft/errors.h"
#include "weft/ops.h"

namespace weft::python {

array HostCopies::add(const array& given, PyObject* object, size_t parameter) {
    if (device_ == nullptr) device_ = &given.storage()->device;
    const auto same = std::find_if(copies_.begin(), copies_.end(),
                                   [&](const Copy& copy) { return copy.given.storage() == given.storage(); });
    // Lent twice, memory has two storages, whose copies would not see what is written into each other.
    for (const Copy& copy : copies_) {
        if (copy.given.storage() != given.storage() && may_share_memory(copy.given, given))
            throw ValueError(
                "two arguments of a compiled function share memory of a GPU, which another library has lent "
                "for each: give views of one weft.from_dlpack(x)");
    }
    if (!whole_storages_) {
        if (same != copies_.end()) throw SharesStorage{};
        copies_.push_back({.given = given,
                           .host = copy(move_to(given, cpu_device()), 'K'),
                           .object = object,
                           .parameter = parameter});
        bytes_ += given.nbytes();
        return copies_.back().host;
    }
    const array whole(given.storage(), DType(ScalarType::kUInt8), {given.storage()->bytes}, {1}, 0,
                      given.writeable());
    array host;
    if (same != copies_.end()) {
        host = same->host;
    } else {
        host = copy(move_to(whole, cpu_device()), 'K');
        bytes_ += whole.nbytes();
    }
    copies_.push_back({.given = whole, .host = host, .object = object, .parameter = parameter});
    return host.with_view(given.dtype(), given.shape(), given.strides(), given.offset());
}

void HostCopies::copy_back(const std::vector<bool>& written) {
    std::vector<const Storage*> done;
    for (const Copy& copy : copies_) {
        if (copy.parameter >= written.size() || !written[copy.parameter]) continue;
        if (std::find(done.begin(), done.end(), copy.given.storage().get()) != done.end()) continue;
        done.push_back(copy.given.storage().get());
        bytes_ += copy.given.nbytes();
        const GilRelease release;
        assign(copy.given, move_to(copy.host, copy.given.storage()->device));
    }
}

bool HostCopies::contains(PyObject* host_object) const {
    return std::any_of(copies_.begin(), copies_.end(),
                       [&](const Copy& copy) { return copy.host_object.ptr() == host_object; });
}

nb::object HostCopies::on_device(nb::object result) {
    for (const Copy& copy : copies_) {
        if (result.is(copy.host_object)) return nb::borrow(copy.object);
    }
    if (!is_array(result.ptr())) return result;
    const array host = array_of(result);
    if (!host.storage()->device.is_cpu()) return result;
    bytes_ += host.nbytes();
    return wrap(move_to(host, *device_));
}

void HostCopies::record() { record_fallback(*device_, "compiled functions", bytes_); }

}  // namespace weft::python
