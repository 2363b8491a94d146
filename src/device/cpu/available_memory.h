// How much memory the machine and the control group of this process can still give.
#pragma once

#include <cstddef>

namespace weft {

// Bytes; a large number when the system does not say. Costs some tens of microseconds.
size_t available_memory();

// The least of the limits that this process has: the machine's, the system's for the process and its control
// group, WEFT_MEMORY_LIMIT.
struct MemoryLimit {
    size_t bytes;
    const char* whose;
};
MemoryLimit memory_limit();

}  // namespace weft
