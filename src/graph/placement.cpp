#include "graph/placement.h"

#include "weft/errors.h"

namespace weft {

namespace {

[[noreturn]] void throw_mixed(const DeviceBackend& first, const DeviceBackend& second) {
    throw ValueError("arrays on " + first.name() + " and on " + second.name() +
                     " cannot take part in one operation: move one of them with x.to_device(...)");
}

}  // namespace

DeviceBackend& common_device(std::span<const array* const> arrays) {
    DeviceBackend *decided = nullptr, *without_dimensions = nullptr;
    for (const array* input : arrays) {
        DeviceBackend& device = device_of(*input);
        if (input->ndim() == 0) {
            if (without_dimensions == nullptr && !device.is_cpu()) without_dimensions = &device;
        } else if (decided == nullptr) {
            decided = &device;
        } else if (decided != &device) {
            throw_mixed(*decided, device);
        }
    }
    if (decided != nullptr) return *decided;
    return without_dimensions != nullptr ? *without_dimensions : cpu_device();
}

void check_same_device(const array& first, const array& second) {
    if (&device_of(first) != &device_of(second)) throw_mixed(device_of(first), device_of(second));
}

}  // namespace weft
