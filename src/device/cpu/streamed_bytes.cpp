#include "device/cpu/streamed_bytes.h"

#include <algorithm>
#include <atomic>

#include "core/config.h"
#include "core/threads/thread_pool.h"
#include "device/device.h"

namespace weft {

int64_t streamed_bytes() {
    const int64_t asked = config().stream.load(std::memory_order_relaxed);
    // Few CPUs of a large processor share its last cache with others, whom they do not see.
    constexpr int64_t kCacheOfCpu = int64_t{16} << 20;
    static const int64_t near = std::min(cpu_device().cache_bytes(), available_cpus() * kCacheOfCpu);
    return asked >= 0 ? asked : near;
}

}  // namespace weft
