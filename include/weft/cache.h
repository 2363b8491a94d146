// The kernel cache on disk as a program sees it: where it is, what it holds, what it did.
// docs/reference/kernel-cache.md tells how it works.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

struct CacheInfo {
    bool enabled = false;
    std::string folder;              // empty where there is none
    std::string reason;              // why it is not enabled
    int64_t limit = 0;               // WEFT_CACHE_SIZE
    int64_t entries = 0, bytes = 0;  // on disk now, of all programs of this user
    // since the process started:
    int64_t hits = 0;      // kernels that were loaded
    int64_t misses = 0;    // kernels that were not there
    int64_t dropped = 0;   // entries that were damaged or not this engine's own, and were removed
    int64_t written = 0;   // entries that were stored
    int64_t evicted = 0;   // entries that were removed to keep within the limit
    int64_t failed = 0;    // reads and writes that the system refused
    int64_t compiled = 0;  // kernels that were compiled, with or without a cache
};

// Looks at the folder, but creates nothing, and waits for kernels that are being compiled. A reason found
// earlier is looked into again.
CacheInfo cache_info();

// Removes every kernel from the folder; returns how many. Kernels in memory stay.
int64_t cache_clear();

}  // namespace weft
