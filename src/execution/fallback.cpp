#include "execution/fallback.h"

#include <memory>
#include <string>

#include "execution/kernels/kernel_store.h"

namespace weft {

void record_fallback(DeviceBackend& device, const char* what, int64_t bytes) {
    LaunchRecord record;
    record.device = &device;
    record.fallback = what;
    if (!device.is_cpu()) record.fallback += " on a GPU";
    record.bytes_read = record.bytes_written = bytes;
    auto kernel = std::make_shared<StoredKernel>();  // none, so that nothing counts as compiled
    kernel->name = "on the CPU";
    record.kernel = std::move(kernel);
    record_launch(std::move(record));
}

}  // namespace weft
