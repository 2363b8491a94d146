#include "device/cpu/available_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/cgroup.h"
#include "core/config.h"
#include "core/small_file.h"

namespace weft {

size_t available_memory() {
    char buffer[4096];
    int64_t available = std::numeric_limits<int64_t>::max();
    // The file counts in KiB.
    if (const auto found = number_after(read_small_file("/proc/meminfo", buffer), "MemAvailable:"))
        available = *found * 1024;
    const CgroupMemory group = cgroup_memory();
    if (group.limit >= 0) available = std::min(available, group.limit - group.used);
    return static_cast<size_t>(std::max<int64_t>(available, 0));
}

MemoryLimit memory_limit() {
    MemoryLimit least{
        static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)),
        "of the machine"};
    const auto take = [&](size_t bytes, const char* whose) {
        if (bytes < least.bytes) least = {bytes, whose};
    };
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        take(limit.rlim_cur, "of the process's address space");
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        take(limit.rlim_cur, "of the process's data");
    if (const CgroupMemory group = cgroup_memory(); group.limit >= 0)
        take(static_cast<size_t>(group.limit), "of the control group");
    if (const int64_t own = config().memory_limit.load(std::memory_order_relaxed); own != 0)
        take(static_cast<size_t>(own), "WEFT_MEMORY_LIMIT");
    return least;
}

}  // namespace weft
