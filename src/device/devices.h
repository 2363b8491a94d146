// The devices of this process by name, and the one that new arrays are made on. Asking for a GPU opens the
// driver; nothing else does.
#pragma once

#include <string>
#include <string_view>

#include "device/device.h"

namespace weft {

// "cpu", "cuda" (the first GPU) or "cuda:1". Throws ValueError for what is no name of a device, DeviceError
// for a device that is not there.
DeviceBackend& device_named(std::string_view name);

// Of the calling thread: what `with weft.device(...)` says, else WEFT_DEVICE, else the CPU.
DeviceBackend& current_device();

// Whether this process has opened a device besides the CPU: if not, all arrays are the CPU's.
bool has_other_devices();

// Makes a device the calling thread's until it is destroyed.
class DeviceScope {
public:
    explicit DeviceScope(DeviceBackend& device);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

private:
    DeviceBackend* before_;
};

// The same without a scope; null: what WEFT_DEVICE says. Gives what was set before.
DeviceBackend* set_current_device(DeviceBackend* device);

}  // namespace weft
