#include "device/devices.h"

#include <charconv>
#include <utility>

#include "core/config.h"
#include "device/cuda/cuda_device.h"
#include "weft/errors.h"

namespace weft {

namespace {

thread_local DeviceBackend* chosen = nullptr;

}  // namespace

void Buffer::throw_not_on_host() const {
    throw InternalError("memory of " + device_->name() + " was to be read or written as the CPU's");
}

DeviceBackend& device_named(std::string_view name) {
    if (name == "cpu") return cpu_device();
    constexpr std::string_view kCuda = "cuda";
    if (name.starts_with(kCuda)) {
        std::string_view rest = name.substr(kCuda.size());
        if (rest.empty()) return cuda::cuda_device(0);
        int ordinal = -1;
        const char* end = rest.data() + rest.size();
        if (rest.front() == ':' && rest.size() > 1) {
            const auto [last, error] = std::from_chars(rest.data() + 1, end, ordinal);
            if (error == std::errc() && last == end && ordinal >= 0) return cuda::cuda_device(ordinal);
        }
    }
    throw ValueError("'" + std::string(name) + "' is no device: it is 'cpu', 'cuda' or 'cuda:N'");
}

DeviceBackend& current_device() {
    if (chosen != nullptr) return *chosen;
    if (config().default_device_is_cpu()) return cpu_device();
    return device_named(config().device());
}

bool has_other_devices() { return cuda::any_device_opened(); }

DeviceBackend* set_current_device(DeviceBackend* device) { return std::exchange(chosen, device); }

DeviceScope::DeviceScope(DeviceBackend& device) : before_(set_current_device(&device)) {}
DeviceScope::~DeviceScope() { set_current_device(before_); }

}  // namespace weft
