// What the control group of this process allows it: CPU time and memory. Linux overcommits memory and counts
// the CPUs of the whole machine, so containers are only seen here.
#pragma once

#include <cstdint>

namespace weft {

// The least CPU quota on the way to the root group, in CPUs (1.5: one and a half); 0 when there is none.
double cgroup_cpu_quota();

struct CgroupMemory {
    int64_t limit = -1;  // bytes; -1: no limit
    int64_t used = 0;    // without page cache that the kernel can drop
};

// Of the group on the way to the root that has least room left.
CgroupMemory cgroup_memory();

}  // namespace weft
