// How a library last did what this thread asked it for: written by the rooms below, read by
// api/recording/origins.h for weft.explain. Each thread has its own, so that it needs no lock.
#pragma once

#include <cstdint>

namespace weft {

struct WayTaken {
    const char* library = nullptr;  // null: nobody has said
    const char* detail = nullptr;   // may be null
    int64_t threads = 0;            // of the CPU; 0: none of them
};
inline constinit thread_local WayTaken way_taken;

}  // namespace weft
