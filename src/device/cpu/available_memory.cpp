#include "device/cpu/available_memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "core/cgroup.h"

namespace weft {

size_t available_memory() {
    int64_t available = std::numeric_limits<int64_t>::max();
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("MemAvailable:")) continue;
        available = std::stoll(line.substr(13)) * 1024;  // the file counts in KiB
        break;
    }
    const CgroupMemory group = cgroup_memory();
    if (group.limit >= 0) available = std::min(available, group.limit - group.used);
    return static_cast<size_t>(std::max<int64_t>(available, 0));
}

}  // namespace weft
