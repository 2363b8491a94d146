// How much memory the machine and the control group of this process can still give.
#pragma once

#include <cstddef>

namespace weft {

// Bytes; a large number when the system does not say. Costs some tens of microseconds.
size_t available_memory();

}  // namespace weft
